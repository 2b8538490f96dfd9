package import TidemarkModel

/// The members of a scope that are online, as one hub knows from its own connections.
package struct PresenceReport: Hashable, Sendable {
    /// The machine's name, unique among all loops of all nodes; a later report replaces an earlier one.
    package var machine: String
    /// Users with a connection here that holds the scope.
    package var online: Set<UserID>
    /// The times at which users lost their last connection here.
    package var seen: [UserID: Milliseconds]

    package init(machine: String, online: Set<UserID>, seen: [UserID: Milliseconds]) {
        self.machine = machine
        self.online = online
        self.seen = seen
    }

    /// True when no member is or was online here.
    package var isEmpty: Bool { online.isEmpty && seen.isEmpty }
}
