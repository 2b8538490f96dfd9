package import TidemarkModel

/// What an operator looks up in a store, beside the calls that serve clients. Nothing here takes a lock of a workspace, and
/// each call is one search by an index, with a limit.
package protocol Inspecting: Sendable {
    /// Workspaces in the order of their names, after one.
    func workspaces(after place: WorkspaceID?, limit: Int) async throws(StoreError) -> [WorkspaceFigures]

    /// The records of that id, of whatever collection, living and dead.
    func records(_ id: LocalID, in workspace: WorkspaceID) async throws(StoreError) -> [StoredRecord]

    /// Memberships of a user that have ended, the last one first; only those of one scope where it is named. They are kept
    /// until the horizon has passed their end.
    func endedMemberships(
        of user: UserID, scope: ScopeID?, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> [EndedMembership]

    /// The nodes that follow a workspace, in no order: each registers before it welcomes a client there, and one that has died is
    /// among them for `followLifetime`.
    func followers(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> [UInt64]
}

/// How large a workspace is, and how much is written there.
package struct WorkspaceFigures: Hashable, Sendable {
    package var workspace: WorkspaceID
    /// Its number counts all changes that there ever were.
    package var head: Head
    package var horizon: SequenceNumber
    /// Its memberships, counted up to ``membersMax``.
    package var members: Int
    /// The first number of the last ``recentBatches`` batches, and the time of the first of them.
    package var recent: (low: SequenceNumber, time: Milliseconds)?

    /// Memberships are counted up to here.
    package static let membersMax = 10_000
    /// Over so many batches it is said how much is written.
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

    /// Changes in a minute, from the first of the last batches until now: it falls while nothing is written.
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

/// A membership that is over: it held from one number to another.
package struct EndedMembership: Hashable, Sendable {
    package var user: UserID
    package var scope: ScopeID
    /// The last one.
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
