package import TidemarkModel

/// Takes what a scope holds out of a store for good (R-66, ERASURE.md). A store of its own kind of work: what serves does not call it.
///
/// Each call is one short step, or a few; it may be made again at any time and be cut short anywhere. ``Eraser`` makes them in
/// the right order.
package protocol Erasing: Sendable {
    /// What there is of a scope, counted; changes nothing.
    func erasureCounts(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> ErasureCounts

    /// Marks a scope. Once this has returned no living record can be written in it: such a batch fails with kind `data`, and
    /// nothing of one that was on its way comes after.
    ///
    /// - Returns: the end of the order as of the mark: what batches hold of the scope is not behind it. `nil`, and no mark,
    ///   when nothing was ever written in the workspace.
    func beginErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber?

    /// Some members of a scope, in the order of their names. Many steps may find none.
    ///
    /// - Parameters:
    ///   - place: where the step before ended; `nil` at first.
    ///   - limit: memberships of the workspace that are looked at.
    func members(
        of scope: ScopeID, in workspace: WorkspaceID, after place: Seat?, limit: Int
    ) async throws(StoreError) -> MemberPage

    /// One step: takes away at most `limit` records of a marked scope with what is kept of them, and empties the bodies of
    /// batches up to the mark. To be called until it says that it is done.
    ///
    /// - Parameter graves: tombstones that stay, since they say that the scope's id is taken.
    func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) async throws(StoreError) -> ErasureStep

    /// Notes that all of it is gone. The mark stays.
    func endErasure(of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds) async throws(StoreError)

    /// Scopes whose erasure was begun and not ended, in their order.
    func openErasures(in workspace: WorkspaceID) async throws(StoreError) -> [ScopeID]

    /// Marks a workspace. Once this has returned, nobody reads or writes it any more: calls of `Store` for it fail as
    /// ``StoreError/erasedWorkspace``, and nothing of one that was on its way comes after. The mark stays for good.
    ///
    /// - Returns: false when there is no such workspace, and never was a mark.
    func beginErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> Bool

    /// One step: takes away at most `limit` rows of each kind of a marked workspace.
    ///
    /// - Parameter place: where the step before ended; `nil` at first, or to begin again.
    func erase(
        _ workspace: WorkspaceID, from place: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> WorkspaceErasureStep

    /// Notes that all of it is gone.
    func endErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError)

    /// Marks a user: until the end no client can be registered for them.
    ///
    /// - Parameter alias: what shall stand where the user is named.
    /// - Returns: what stands there: of an erasure that was begun before, its own. `nil` when there is no such workspace.
    func beginErasure(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> UserID?

    /// Some records, living and dead, whose author a user is. Many steps may find none.
    ///
    /// - Parameters:
    ///   - place: where the step before ended; `nil` at first.
    ///   - limit: records that are given.
    func records(
        by user: UserID, in workspace: WorkspaceID, after place: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> AuthoredPage

    /// One step: has the ledger name the alias where it names the user, in at most `limit` entries, and empties the bodies of all
    /// batches. To be called until it says that it is done.
    func eraseTraces(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> ErasureStep

    /// Takes the mark away: nothing is left that names the user.
    func endErasure(of user: UserID, in workspace: WorkspaceID) async throws(StoreError)

    /// Takes the bytes of what was deleted out of the store's files, as far as the store has files of its own. May take as long
    /// as writing all of them anew. What it wrote may still be in a log: see ``emptyLog()``.
    func scrub() async throws(StoreError)

    /// Takes everything out of the log of the store's files. Cheap to call again.
    ///
    /// - Throws: kind `unavailable` while somebody reads what only the log has.
    func emptyLog() async throws(StoreError)
}

/// The same for bytes of blobs.
package protocol BlobErasing: Sendable {
    /// Blobs that were put in a scope, and bytes of those that no other scope has.
    func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// One step: takes some blobs out of a scope, and away where no other scope has them: at most 20, and after the first no
    /// more than 16 MiB.
    ///
    /// - Returns: what was taken out of the scope; no blobs when nothing is left.
    func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// One step of the same for what a user put first, in any scope.
    func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// One step of the same for a whole workspace; in the end it takes away what counts its blobs, too.
    func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage

    /// As ``Erasing/scrub()``.
    func scrubBlobs() async throws(StoreError)
}

extension BlobUsage {
    /// Of one step that takes blobs away.
    package static let stepMax = BlobUsage(blobs: 20, bytes: 16 << 20)
}

/// What there is of a scope.
package struct ErasureCounts: Hashable, Sendable {
    /// Living records.
    package var records = 0
    package var tombstones = 0
    /// Of the living records' bodies.
    package var bytes: Int64 = 0
    package var ledgerEntries = 0
    /// Batches of the workspace whose bodies are kept for other nodes.
    package var bodies = 0

    package init() {}
}

/// Some members of a scope.
package struct MemberPage: Hashable, Sendable {
    package var users: [UserID]
    /// Where the next step begins; `nil` when there is none.
    package var next: Seat?

    package init(users: [UserID], next: Seat?) {
        self.users = users
        self.next = next
    }
}

/// Where a step ended that looks through records of all workspaces; opaque.
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

/// Some records of a user's.
package struct AuthoredPage: Sendable {
    package var records: [StoredRecord]
    /// Where the next step begins; `nil` when there is none.
    package var next: ErasurePlace?

    package init(records: [StoredRecord], next: ErasurePlace?) {
        self.records = records
        self.next = next
    }
}

/// What one step of erasing a workspace took away.
package struct WorkspaceErasureStep: Hashable, Sendable {
    /// Of all tables.
    package var rows: Int
    package var next: ErasurePlace?
    /// Nothing is left.
    package var isDone: Bool

    package init(rows: Int, next: ErasurePlace? = nil, isDone: Bool) {
        self.rows = rows
        self.next = next
        self.isDone = isDone
    }
}

/// What one step took away.
package struct ErasureStep: Hashable, Sendable {
    /// Living ones and tombstones.
    package var records: Int
    package var ledgerEntries: Int
    /// Batches that lost their bodies.
    package var bodies: Int
    /// Nothing is left but the tombstones that stay.
    package var isDone: Bool

    package init(records: Int = 0, ledgerEntries: Int = 0, bodies: Int = 0, isDone: Bool = true) {
        self.records = records
        self.ledgerEntries = ledgerEntries
        self.bodies = bodies
        self.isDone = isDone
    }

    /// Both together; done when the later is.
    package static func + (earlier: ErasureStep, later: ErasureStep) -> ErasureStep {
        ErasureStep(
            records: earlier.records + later.records, ledgerEntries: earlier.ledgerEntries + later.ledgerEntries,
            bodies: earlier.bodies + later.bodies, isDone: later.isDone)
    }
}

extension UserID {
    /// Stands for the author of what is left of something erased.
    package static let erased = UserID("erased")
}

extension StoreError {
    /// The whole workspace is erased: who holds something of it has to delete that.
    package static let erasedWorkspace = StoreError(.unavailable, "the workspace is erased")

    /// A living record was to be written in a scope that is erased.
    package static let erasedScope = StoreError(
        .data, "the scope of a record is erased: nothing can be written in it any more")
}
