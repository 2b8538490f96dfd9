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
            var step = ErasureStep()
            do {
                try db.inTransaction(.immediate) {
                    // Records that are not filed would not be found.
                    try filing.run(db)
                    let write = ErasureWrite(db: db, workspace: workspace, scope: scope)
                    step = try write.run(keeping: graves, limit: max(1, limit))
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
                    try filing.run(db)
                    var room = max(1, limit)
                    while room > 0,
                        let scope = try Prepared(EmbeddedErasureSQL.nextScope, db)
                            .first({ $0.text(workspace.text) }, { ScopeID($0.text()) })
                    {
                        let gone = try ErasureWrite(db: db, workspace: workspace, scope: scope)
                            .run(keeping: [], limit: room)
                        step.rows += gone.records + gone.ledgerEntries
                        room -= max(1, gone.records)
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

/// One step of an erasure on the writing connection, inside its transaction.
private struct ErasureWrite {
    let db: Database
    let workspace: WorkspaceID
    let scope: ScopeID

    func run(keeping graves: Set<RecordKey>, limit: Int) throws -> ErasureStep {
        var step = ErasureStep()
        try Prepared(OperatingSQL.dropEndedOfScope, db).execute { $0.scope(scope, of: workspace) }
        let place = try Prepared(FilingSQL.place, db).first({ $0.scope(scope, of: workspace) }) { $0.integer() }
        if let place {
            let rows = try Prepared(CompactionSQL.scopeRows, db).all(
                {
                    $0.integer(place)
                    $0.integer(Int64(limit + graves.count) + 1)
                }, { $0.integer() })
            for row in rows {
                guard let record = try FoundRow.at(row, db) else { continue }
                if record.isDeleted, graves.contains(record.key) {
                    step.ledgerEntries += try Prepared(CompactionSQL.deleteLedger, db).execute {
                        $0.key(workspace, record.key)
                    }
                    continue
                }
                guard step.records < limit else {
                    step.isDone = false
                    break
                }
                step.ledgerEntries += try record.forget(in: workspace, db)
                step.records += 1
            }
            if step.records > 0 { try Prepared(CompactionSQL.lowerFiling, db).execute { _ in } }
        }
        guard step.isDone else { return step }
        if let place { try Prepared(EmbeddedErasureSQL.dropPlace, db).execute { $0.integer(place) } }
        let through = try Prepared(EmbeddedErasureSQL.through, db).first({ $0.scope(scope, of: workspace) }) {
            $0.integer()
        }
        step.bodies = try Prepared(EmbeddedErasureSQL.dropBodies, db).execute {
            $0.text(workspace.text)
            $0.integer(through ?? 0)
        }
        return step
    }
}

extension Binding {
    fileprivate mutating func scope(_ scope: ScopeID, of workspace: WorkspaceID) {
        text(workspace.text)
        text(scope.text)
    }
}
