public import Foundation
public import TidemarkModel

/// Compares the records that an older path shows with those of the engine, again and again, and keeps the rate of
/// agreement. Pure: records and times go in, reports come out.
///
///     var comparison = ShadowComparison()
///     let report = try await store.compare(olderMessages, in: room, with: &comparison)
///     if !report.agrees { log.warning("\(report)") }
///     if comparison.agreement(since: weekAgo) == 1 { flags["sync"] = "on" }
public struct ShadowComparison: Sendable {
    /// The bounds of a comparison.
    public struct Limits: Hashable, Sendable {
        /// The number of differences that a report lists; it counts the others.
        public var maxSamples = 20
        /// The number of reports whose counts are kept, the newest.
        public var maxHistory = 1_000
        /// The number of differing records that are remembered; those beyond are counted from the first time.
        public var maxSuspects = 10_000
        /// The milliseconds that a difference may last: the two paths need not receive a change at the same moment.
        public var grace: Milliseconds = 5_000

        public init() {}
    }

    /// The fields that are compared; `nil` for all.
    public let fields: Set<String>?
    /// The counts of the last comparisons, oldest first.
    public private(set) var history: [ShadowReport.Counts] = []
    private let limits: Limits
    /// The times since which records differ.
    private var suspects: [UUID: Milliseconds] = [:]

    public init(fields: Set<String>? = nil, limits: Limits = Limits()) {
        self.fields = fields
        self.limits = limits
    }

    /// Compares two sets of records now. A field that is `null` is treated as unset.
    ///
    /// - Parameters:
    ///   - older: the records of the older path.
    ///   - engine: the records of the engine.
    ///   - now: milliseconds since 1970.
    public mutating func compare(
        older: [UUID: Fields], engine: [UUID: Fields], now: Milliseconds
    ) -> ShadowReport {
        var report = ShadowReport(at: now)
        var stillSuspect: [UUID: Milliseconds] = [:]
        for id in Set(older.keys).union(engine.keys).sorted(by: { $0.uuidString < $1.uuidString }) {
            report.counts.compared += 1
            guard let difference = difference(id, older[id], engine[id]) else { continue }
            let since = suspects[id] ?? now
            if stillSuspect.count < limits.maxSuspects { stillSuspect[id] = since }
            guard now - since >= limits.grace else {
                report.counts.fresh += 1
                continue
            }
            report.counts.count(difference)
            if report.samples.count < limits.maxSamples { report.samples.append(difference) }
        }
        suspects = stillSuspect
        history.append(report.counts)
        history.removeFirst(max(0, history.count - limits.maxHistory))
        return report
    }

    /// Returns the share of compared records that agreed since a time, 0 to 1; `nil` when nothing was compared.
    public func agreement(since time: Milliseconds) -> Double? {
        let counts = history.filter { $0.at >= time }
        let compared = counts.reduce(0) { $0 + $1.compared }
        guard compared > 0 else { return nil }
        return 1 - Double(counts.reduce(0) { $0 + $1.differing }) / Double(compared)
    }

    private func difference(_ id: UUID, _ older: Fields?, _ engine: Fields?) -> ShadowDifference? {
        guard let older else { return ShadowDifference(id: id, kind: .extra) }
        guard let engine else { return ShadowDifference(id: id, kind: .missing) }
        let names = Set((older.entries + engine.entries).map(\.name)).filter { fields?.contains($0) ?? true }
        let differing = names.filter { (older[$0] ?? .null) != (engine[$0] ?? .null) }
        return differing.isEmpty ? nil : ShadowDifference(id: id, kind: .different(fields: differing.sorted()))
    }
}
