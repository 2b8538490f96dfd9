package import TidemarkModel

/// The queries of operators, beside the calls that serve clients. None takes a lock of a workspace, and each is one
/// search by an index, with a limit.
package protocol Inspecting: Sendable {
    /// Returns workspaces in the order of their names, those after `position`.
    func workspaces(after position: WorkspaceID?, limit: Int) async throws(StoreError) -> [WorkspaceFigures]

    /// Returns the records with that id, of every collection, living and dead.
    func records(_ id: LocalID, in workspace: WorkspaceID) async throws(StoreError) -> [StoredRecord]

    /// Returns ended memberships of a user, the last one first; only those of `scope` if it is given. They are kept
    /// until the horizon has passed their end.
    func endedMemberships(
        of user: UserID, scope: ScopeID?, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> [EndedMembership]

    /// Returns the nodes that follow a workspace, in no order. Each registers before it welcomes a client there; a node
    /// that has crashed remains listed for `followLifetime`.
    func followers(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> [UInt64]
}

/// The size of a workspace and its rate of writes.
package struct WorkspaceFigures: Hashable, Sendable {
    package var workspace: WorkspaceID
    /// The head of the order; its number counts all changes ever made.
    package var head: Head
    package var horizon: SequenceNumber
    /// The count of its memberships, at most ``membersMax``.
    package var members: Int
    /// The first number of the last ``recentBatches`` batches, and the time of the first of them.
    package var recent: (low: SequenceNumber, time: Milliseconds)?

    /// The number up to which memberships are counted.
    package static let membersMax = 10_000
    /// The number of batches over which the rate of writes is measured.
    package static let recentBatches = 100

    package init(
        workspace: WorkspaceID, head: Head, horizon: SequenceNumber, members: Int,
        recent: (low: SequenceNumber, time: Milliseconds)?
    ) {
        self.workspace = workspace
        self.head = head
        self.horizon = horizon
        self.members = members
        self.recent = recent
    }

    /// Returns the changes per minute, from the first of the last batches until now: the rate falls while nothing is
    /// written.
    package func perMinute(now: Milliseconds) -> Double {
        guard let recent, head.seq >= recent.low else { return 0 }
        let span = max(now, head.time) - recent.time
        return Double(head.seq - recent.low + 1) * 60_000 / Double(max(span, 1_000))
    }

    package static func == (one: WorkspaceFigures, other: WorkspaceFigures) -> Bool {
        one.workspace == other.workspace && one.head == other.head && one.horizon == other.horizon
            && one.members == other.members && one.recent?.low == other.recent?.low
            && one.recent?.time == other.recent?.time
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(workspace)
        hasher.combine(head)
    }
}

/// A membership that has ended, with the numbers at which it began and ended.
package struct EndedMembership: Hashable, Sendable {
    package var user: UserID
    package var scope: ScopeID
    /// The last role.
    package var role: Role
    package var since: SequenceNumber
    /// The number of the change that ended it.
    package var ended: SequenceNumber

    package init(user: UserID, scope: ScopeID, role: Role, since: SequenceNumber, ended: SequenceNumber) {
        self.user = user
        self.scope = scope
        self.role = role
        self.since = since
        self.ended = ended
    }
}
