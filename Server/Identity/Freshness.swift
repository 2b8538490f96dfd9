import NIOHTTP1

/// The time for which an answer may be kept (RFC 9111 §5.2).
enum Freshness {
    /// Returns the time; `nil` if the answer does not state one.
    static func milliseconds(_ fields: HTTPHeaders) -> Int64? {
        let directives = fields[canonicalForm: "cache-control"].map { $0.lowercased() }
        if directives.contains(where: { $0 == "no-store" || $0 == "no-cache" }) { return 0 }
        guard let directive = directives.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = Int64(directive.dropFirst(8)), seconds >= 0
        else { return nil }
        let age = fields.first(name: "age").flatMap { Int64($0) } ?? 0
        // A year is more than any bound on it.
        return (min(seconds, 31_536_000) - min(max(age, 0), min(seconds, 31_536_000))) * 1_000
    }
}
