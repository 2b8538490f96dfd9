package import TidemarkModel

/// Removes what a scope holds from a store for good (R-66, ERASURE.md). Separate from `Store`: the serving path does
/// not call it.
///
/// Each call is one short step, or a few. It may be repeated at any time and interrupted anywhere. ``Eraser`` makes the
/// calls in the right order.
package protocol Erasing: Sendable {
    /// Counts what a scope holds; changes nothing.
    func erasureCounts(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> ErasureCounts

    /// Marks a scope. Once this returns, no living record can be written in it: such a batch fails with kind `data`,
    /// and none that was under way is written afterwards.
    ///
    /// - Returns: the end of the order at the mark: batches hold content of the scope at most up to there. `nil`,
    ///   without a mark, when nothing was ever written in the workspace.
    func beginErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber?

    /// Returns some members of a scope, in the order of their names. Many steps may find none.
    ///
    /// - Parameters:
    ///   - position: the last position of the step before; `nil` at first.
    ///   - limit: the maximum number of the workspace's memberships to examine.
    func members(
        of scope: ScopeID, in workspace: WorkspaceID, after position: Seat?, limit: Int
    ) async throws(StoreError) -> MemberPage

    /// Takes one step: deletes at most `limit` records of a marked scope with their history, and empties the bodies of
    /// batches up to the mark. The caller repeats it until the step is done.
    ///
    /// - Parameter graves: tombstones that stay, since they reserve the scope's id.
    func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) async throws(StoreError) -> ErasureStep

    /// Records that everything is deleted. The mark stays.
    func endErasure(of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds) async throws(StoreError)

    /// Returns the scopes whose erasure was begun and not ended, in their order.
    func openErasures(in workspace: WorkspaceID) async throws(StoreError) -> [ScopeID]

    /// Marks a workspace. Once this returns, it can no longer be read or written. Calls of `Store` for it fail with
    /// ``StoreError/erasedWorkspace``, and nothing that was under way is written afterwards. The mark stays for good.
    ///
    /// - Returns: false when the workspace does not exist and was never marked.
    func beginErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> Bool

    /// Takes one step: deletes at most `limit` rows of each kind of a marked workspace.
    ///
    /// - Parameter position: the last position of the step before; `nil` at first, or to begin again.
    func erase(
        _ workspace: WorkspaceID, from position: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> WorkspaceErasureStep

    /// Records that everything is deleted.
    func endErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError)

    /// Marks a user: until the erasure ends, no client can be registered for them.
    ///
    /// - Parameter alias: the name that replaces the user's.
    /// - Returns: the alias in force, which is the earlier one if an erasure was begun before. `nil` when the workspace
    ///   does not exist.
    func beginErasure(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> UserID?

    /// Returns some records, living and dead, whose author is the user. Many steps may find none.
    ///
    /// - Parameters:
    ///   - position: the last position of the step before; `nil` at first.
    ///   - limit: the maximum number of records to return.
    func records(
        by user: UserID, in workspace: WorkspaceID, after position: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> AuthoredPage

    /// Takes one step: replaces the user by the alias in at most `limit` ledger entries, and empties the bodies of all
    /// batches. The caller repeats it until the step is done.
    func eraseTraces(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> ErasureStep

    /// Removes the mark: nothing is left that names the user.
    func endErasure(of user: UserID, in workspace: WorkspaceID) async throws(StoreError)

    /// Removes the bytes of deleted data from the store's files, if the store has files of its own. It may take as long
    /// as rewriting all of them. The bytes that it wrote may still be in a log: see ``emptyLog()``.
    func scrub() async throws(StoreError)

    /// Empties the log of the store's files. Cheap to repeat.
    ///
    /// - Throws: kind `unavailable` while a reader needs what only the log has.
    func emptyLog() async throws(StoreError)
}

/// The same as ``Erasing`` for the bytes of blobs.
package protocol BlobErasing: Sendable {
    /// Returns the number of blobs that were put in a scope, and the bytes of those that no other scope has.
    func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Takes one step: removes some blobs from a scope, and deletes those that no other scope has. At most 20 blobs,
    /// and after the first no more than 16 MiB.
    ///
    /// - Returns: the blobs removed from the scope; none when nothing is left.
    func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Takes one such step for the blobs that a user put first, in any scope.
    func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Takes one such step for a whole workspace; the last one also deletes its count of blobs.
    func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// Does for the files of the blobs what ``Erasing/scrub()`` does for the records.
    func scrubBlobs() async throws(StoreError)
}

extension BlobUsage {
    /// The maximum that one step deletes.
    package static let stepMax = BlobUsage(blobs: 20, bytes: 16 << 20)
}

/// The counts of what a scope holds.
package struct ErasureCounts: Hashable, Sendable {
    /// Living records.
    package var records = 0
    package var tombstones = 0
    /// The bytes of the living records' bodies.
    package var bytes: Int64 = 0
    package var ledgerEntries = 0
    /// Batches of the workspace whose bodies are kept for other nodes.
    package var bodies = 0

    package init() {}
}

/// Some members of a scope.
package struct MemberPage: Hashable, Sendable {
    package var users: [UserID]
    /// The position after which the next step begins; `nil` when all members were examined.
    package var next: Seat?

    package init(users: [UserID], next: Seat?) {
        self.users = users
        self.next = next
    }
}

/// The last position of a step that goes through records of all workspaces; opaque.
package struct ErasurePlace: Hashable, Sendable {
    package var isPastRecords: Bool
    package var key: RecordKey
    package var workspace: WorkspaceID

    package init(isPastRecords: Bool, key: RecordKey, workspace: WorkspaceID) {
        self.isPastRecords = isPastRecords
        self.key = key
        self.workspace = workspace
    }
}

/// Some records of a user.
package struct AuthoredPage: Sendable {
    package var records: [StoredRecord]
    /// The position after which the next step begins; `nil` when there are no more.
    package var next: ErasurePlace?

    package init(records: [StoredRecord], next: ErasurePlace?) {
        self.records = records
        self.next = next
    }
}

/// The result of one step of erasing a workspace.
package struct WorkspaceErasureStep: Hashable, Sendable {
    /// Deleted rows of all tables.
    package var rows: Int
    package var next: ErasurePlace?
    /// True when nothing is left.
    package var isDone: Bool

    package init(rows: Int, next: ErasurePlace? = nil, isDone: Bool) {
        self.rows = rows
        self.next = next
        self.isDone = isDone
    }
}

/// The result of one step of erasing a scope or a user's traces.
package struct ErasureStep: Hashable, Sendable {
    /// Deleted records, living ones and tombstones.
    package var records: Int
    package var ledgerEntries: Int
    /// Batches that lost their bodies.
    package var bodies: Int
    /// True when nothing is left but the tombstones that stay.
    package var isDone: Bool

    package init(records: Int = 0, ledgerEntries: Int = 0, bodies: Int = 0, isDone: Bool = true) {
        self.records = records
        self.ledgerEntries = ledgerEntries
        self.bodies = bodies
        self.isDone = isDone
    }

    /// Returns the sum of both steps; done when the later one is.
    package static func + (earlier: ErasureStep, later: ErasureStep) -> ErasureStep {
        ErasureStep(
            records: earlier.records + later.records, ledgerEntries: earlier.ledgerEntries + later.ledgerEntries,
            bodies: earlier.bodies + later.bodies, isDone: later.isDone)
    }
}

extension UserID {
    /// The author of what remains of something erased.
    package static let erased = UserID("erased")
}

extension StoreError {
    /// The whole workspace is erased: clients and nodes that hold data of it must delete it.
    package static let erasedWorkspace = StoreError(.unavailable, "the workspace is erased")

    /// A batch would have written a living record in an erased scope.
    package static let erasedScope = StoreError(
        .data, "the scope of a record is erased: it accepts no more writes")
}
