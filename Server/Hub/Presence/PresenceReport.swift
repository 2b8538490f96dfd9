package import TidemarkModel

/// Who of a scope's members is there, as one hub knows of its own connections.
package struct PresenceReport: Hashable, Sendable {
    /// The machine's name, unique among all loops of all nodes; a later report takes the place of an earlier one.
    package var machine: String
    /// Users with a connection here that holds the scope.
    package var online: Set<UserID>
    /// When those who had one left.
    package var seen: [UserID: Milliseconds]

    package init(machine: String, online: Set<UserID>, seen: [UserID: Milliseconds]) {
        self.machine = machine
        self.online = online
        self.seen = seen
    }

    /// Nobody is there, and nobody was.
    package var isEmpty: Bool { online.isEmpty && seen.isEmpty }
}
