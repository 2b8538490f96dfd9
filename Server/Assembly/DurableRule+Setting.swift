import TidemarkNode

extension DurableRule {
    private static let ages: ClosedRange<Int64> = 60...315_360_000
    private static let replicas = 1...16

    /// Reads `age=24h`, `age=7d`, `age=90m`, `replicas=1` or `backup`; `nil` for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch (parts.first, parts.count) {
        case ("backup", 1): self = .backup
        case ("replicas", 2):
            guard let count = Int(parts[1]), Self.replicas.contains(count) else { return nil }
            self = .replicas(count)
        case ("age", 2):
            let factors: [Character: Int64] = ["m": 60, "h": 3_600, "d": 86_400]
            guard let factor = parts[1].last.flatMap({ factors[$0] }), let number = Int64(parts[1].dropLast()) else {
                return nil
            }
            let (seconds, overflowed) = number.multipliedReportingOverflow(by: factor)
            guard !overflowed, Self.ages.contains(seconds) else { return nil }
            self = .age(.seconds(seconds))
        default: return nil
        }
    }
}

extension SettingValues {
    /// Reads the rule for durable numbers; `nil` if none is set.
    func durable(on database: DatabaseLocation) throws(ConfigurationError) -> DurableRule? {
        guard let text = self[.durable] else { return nil }
        guard let rule = DurableRule(text) else {
            throw ConfigurationError(
                .durable,
                "\"\(text)\" is not a rule: write age=24h (1m to 3650d), replicas=1 (1 to 16) or backup")
        }
        if case .replicas = rule, case .sqlite = database {
            throw ConfigurationError(.durable, "a SQLite file has no standbys: write age=24h, or backup")
        }
        return rule
    }
}
