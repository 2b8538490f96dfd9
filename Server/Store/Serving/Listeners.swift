package import TidemarkModel

/// The nodes that follow one workspace, each until it stops renewing its registration.
package struct Listeners: Hashable, Sendable {
    private var lapses: [UInt64: Milliseconds] = [:]

    package init() {}

    /// True when no node is registered, lapsed ones included.
    package var isEmpty: Bool { lapses.isEmpty }

    /// Registers `node`, or renews it, and forgets the nodes whose registration lapsed before `now`.
    package mutating func renew(_ node: UInt64, now: Milliseconds, lifetime: Int64) {
        lapses = lapses.filter { $0.value > now }
        let (lapse, overflows) = now.addingReportingOverflow(lifetime)
        lapses[node] = overflows ? .max : lapse
    }

    /// Ends the registration of `node`, if there is one.
    package mutating func remove(_ node: UInt64) { lapses[node] = nil }

    /// Returns the nodes that are registered at `now`.
    package func nodes(at now: Milliseconds) -> [UInt64] { lapses.filter { $0.value > now }.map(\.key) }

    /// Returns whether a node other than the `writer` is still registered at `now`, so that a batch of that time needs
    /// its body.
    package func isHeard(at now: Milliseconds, besides writer: UInt64? = nil) -> Bool {
        lapses.contains { $0.key != writer && $0.value > now }
    }
}
