import GRDB
import TidemarkLock
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore: Erasing {
    package func erasureCounts(
        of scope: ScopeID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ErasureCounts {
        try await onReader { db in
            var counts = ErasureCounts()
            if let place = try Prepared(FilingSQL.place, db).first({ $0.scope(scope, of: workspace) }, { $0.integer() })
            {
                try Prepared(EmbeddedErasureSQL.countRecords, db).forEach({ $0.integer(place) }) {
                    (counts.records, counts.tombstones) = (Int($0.integer()), Int($0.integer()))
                    counts.bytes = $0.integer()
                    return false
                }
            }
            counts.ledgerEntries =
                try Prepared(EmbeddedErasureSQL.countLedger, db)
                .first({ $0.scope(scope, of: workspace) }, { Int($0.integer()) }) ?? 0
            counts.bodies =
                try Prepared(EmbeddedErasureSQL.countBodies, db)
                .first({ $0.text(workspace.text) }, { Int($0.integer()) }) ?? 0
            return counts
        }
    }

    package func beginErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber? {
        try await onWriter { [erased] db in
            // On the writing connection no batch is in progress, and every later one sees the mark.
            let head = try FeedQuery(db: db, workspace: workspace).head().seq
            guard head > 0 else { return nil }
            try Prepared(EmbeddedErasureSQL.begin, db).execute {
                $0.scope(scope, of: workspace)
                $0.integer(head)
                $0.integer(now)
            }
            erased.add(scope, of: workspace)
            return head
        }
    }

    package func members(
        of scope: ScopeID, in workspace: WorkspaceID, after cursor: Seat?, limit: Int
    ) async throws(StoreError) -> MemberPage {
        let seats = try await onReader { db in
            try Prepared(EmbeddedErasureSQL.members, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(cursor?.user.text ?? "")
                    $0.text(cursor?.scope.text ?? "")
                    $0.integer(Int64(max(1, limit)))
                }, { Seat(user: UserID($0.text()), scope: ScopeID($0.text())) })
        }
        return MemberPage(
            users: seats.filter { $0.scope == scope }.map(\.user), next: seats.count < max(1, limit) ? nil : seats.last)
    }

    /// One write transaction. All bodies of batches are deleted at once, since there are few after the last rows.
    package func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        try await onWriter { [filing, places] db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            var machine = ScopeErasureMachine(scope, keeping: graves, limit: limit)
            do {
                try db.inTransaction(.immediate) {
                    let step = RowStep(db: db, workspace: workspace, filing: filing)
                    try machine.run { try step.answer($0) }
                    return .commit
                }
                places.forget()
            } catch {
                filing.forget()
                places.forget()
                throw error
            }
            return machine.step
        }
    }

    package func endErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) {
        try await onWriter { [checkpointer] db in
            try Prepared(EmbeddedErasureSQL.end, db).execute {
                $0.scope(scope, of: workspace)
                $0.integer(now)
            }
            checkpointer.settle()
            try db.checkpoint(.truncate)
        }
    }

    package func openErasures(in workspace: WorkspaceID) async throws(StoreError) -> [ScopeID] {
        try await onReader { db in
            try Prepared(EmbeddedErasureSQL.open, db).all({ $0.text(workspace.text) }, { ScopeID($0.text()) })
        }
    }

    package func beginErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> Bool {
        try await onWriter { [self] db in
            guard
                try erased.holds(workspace)
                    || Prepared(EmbeddedErasureSQL.hasWorkspace, db)
                        .first({ $0.text(workspace.text) }, { $0.integer() }) != nil
            else { return false }
            try db.inTransaction(.immediate) {
                try Prepared(EmbeddedErasureSQL.beginWorkspace, db).execute {
                    $0.text(workspace.text)
                    $0.integer(now)
                }
                try Prepared(EmbeddedErasureSQL.dropWorkspace, db).execute { $0.text(workspace.text) }
                return .commit
            }
            erased.add(workspace)
            listeners.withLock { $0[workspace] = nil }
            return true
        }
    }

    /// One write transaction.
    package func erase(
        _ workspace: WorkspaceID, from cursor: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> WorkspaceErasureStep {
        try await onWriter { [filing, places] db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            var step = WorkspaceErasureStep(rows: 0, isDone: true)
            do {
                try db.inTransaction(.immediate) {
                    let rows = RowStep(db: db, workspace: workspace, filing: filing)
                    var room = max(1, limit)
                    while room > 0,
                        let scope = try Prepared(EmbeddedErasureSQL.nextScope, db)
                            .first({ $0.text(workspace.text) }, { ScopeID($0.text()) })
                    {
                        var machine = ScopeErasureMachine(scope, keeping: [], limit: room)
                        try machine.run { try rows.answer($0) }
                        step.rows += machine.step.records + machine.step.ledgerEntries
                        room -= max(1, machine.step.records)
                    }
                    step.isDone = room > 0
                    for sql in EmbeddedErasureSQL.dropRows {
                        let gone = try Prepared(sql, db).execute {
                            $0.text(workspace.text)
                            $0.integer(Int64(max(1, limit)))
                        }
                        step.rows += gone
                        if gone >= max(1, limit) { step.isDone = false }
                    }
                    return .commit
                }
                places.forget()
            } catch {
                filing.forget()
                places.forget()
                throw error
            }
            return step
        }
    }

    package func endErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) {
        try await onWriter { db in
            _ = try Prepared(EmbeddedErasureSQL.endWorkspace, db).execute {
                $0.text(workspace.text)
                $0.integer(now)
            }
        }
    }

    /// Rewrites the file, which needs space for a second one: deleted or overwritten content may remain in its pages.
    package func scrub() async throws(StoreError) { try await onWriter { try $0.execute(sql: "VACUUM") } }

    package func emptyLog() async throws(StoreError) {
        try await onWriter { [checkpointer] db in
            checkpointer.settle()
            do {
                try db.checkpoint(.truncate)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                throw StoreError(
                    .unavailable,
                    "another program reads the database file, and its log cannot be emptied until then: close that program"
                )
            }
        }
    }
}

/// The erased scopes and workspaces, which accept no writes; one process owns the file. Any thread.
final class ErasedScopes: Sendable {
    private let scopes = Lock<[WorkspaceID: Set<ScopeID>]>([:])
    private let workspaces = Lock<Set<WorkspaceID>>([])

    func load(_ pool: DatabasePool) throws(StoreError) {
        do {
            let found = try pool.read { db in
                try Prepared(EmbeddedErasureSQL.scopes, db).all({ _ in }) {
                    (WorkspaceID($0.text()), ScopeID($0.text()))
                }
            }
            for (workspace, scope) in found { add(scope, of: workspace) }
            let gone = try pool.read { db in
                try Prepared(EmbeddedErasureSQL.workspaces, db).all({ _ in }) { WorkspaceID($0.text()) }
            }
            for workspace in gone { add(workspace) }
        } catch {
            throw StoreError(sqlite: error)
        }
    }

    func add(_ scope: ScopeID, of workspace: WorkspaceID) {
        _ = scopes.withLock { $0[workspace, default: []].insert(scope) }
    }

    func add(_ workspace: WorkspaceID) { _ = workspaces.withLock { $0.insert(workspace) } }

    func holds(_ workspace: WorkspaceID) -> Bool { workspaces.withLock { $0.contains(workspace) } }

    /// - Throws: `erasedWorkspace`.
    func check(_ workspace: WorkspaceID) throws { if holds(workspace) { throw StoreError.erasedWorkspace } }

    /// Reads the marks of a workspace as they are committed.
    func read(_ workspace: WorkspaceID, _ db: Database) throws {
        let found = try Prepared(EmbeddedErasureSQL.scopesOf, db).all(
            { $0.text(workspace.text) }, { ScopeID($0.text()) })
        scopes.withLock { $0[workspace] = found.isEmpty ? nil : Set(found) }
    }

    /// - Throws: `erasedWorkspace`, `erasedScope`.
    func check(_ scope: ScopeID, of workspace: WorkspaceID) throws {
        try check(workspace)
        if scopes.withLock({ $0[workspace]?.contains(scope) ?? false }) { throw StoreError.erasedScope }
    }

    /// Whether any of these records is living and belongs to an erased scope.
    func holds(anyOf records: [StoredRecord], in workspace: WorkspaceID) -> Bool {
        guard let erased = scopes.withLock({ $0[workspace] }) else { return false }
        return records.contains { !$0.isDeleted && erased.contains($0.scope) }
    }
}
