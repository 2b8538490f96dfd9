extension PushOutcome {
    /// Every entry got its number's outcome.
    package var isSettled: Bool {
        if case .settled = self { true } else { false }
    }

    /// The outcome of a push whose later part came out as `next`: results are joined until one part is not settled.
    package func followed(by next: PushOutcome) -> PushOutcome {
        guard case .settled(_, let results) = self else { return self }
        guard case .settled(let through, let more) = next else { return next }
        return .settled(through: through, results: results + more)
    }
}
