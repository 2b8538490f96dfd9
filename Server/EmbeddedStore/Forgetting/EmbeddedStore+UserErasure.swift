import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// One write transaction; see `Erasing`.
    package func beginErasure(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> UserID? {
        try await onWriter { db in
            try Prepared(EmbeddedErasureSQL.beginUser, db).execute {
                $0.text(workspace.text)
                $0.text(user.text)
                $0.text(alias.text)
                $0.integer(now)
            }
            return try Prepared(EmbeddedErasureSQL.alias, db).first(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                }, { UserID($0.text()) })
        }
    }

    /// Reads in the order of the table, some thousand rows a step.
    package func records(
        by user: UserID, in workspace: WorkspaceID, after cursor: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> AuthoredPage {
        let after = cursor.map { Int64(bitPattern: $0.key.id.low) } ?? 0
        return try await onReader { db in
            let last = try Prepared(EmbeddedErasureSQL.lastRow, db).first({ _ in }, { $0.integer() }) ?? 0
            let end = after < last - Self.walkedAtOnce ? after + Self.walkedAtOnce : last
            let found = try Prepared(EmbeddedErasureSQL.authored, db).all(
                {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    $0.integer(after)
                    $0.integer(end)
                    $0.integer(Int64(max(1, limit)))
                }, { ($0.integer(), try $0.record()) })
            let through = found.count < max(1, limit) ? end : found.last?.0 ?? end
            let key = RecordKey(collection: "", id: UniqueID(high: 0, low: UInt64(bitPattern: through)))
            return AuthoredPage(
                records: found.map(\.1),
                next: through < last ? ErasurePlace(isPastRecords: false, key: key, workspace: workspace) : nil)
        }
    }

    private static var walkedAtOnce: Int64 { 20_000 }

    /// One write transaction; all bodies of batches are deleted at once.
    package func eraseTraces(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        try await onWriter { db in
            try db.execute(sql: "PRAGMA secure_delete = ON")
            var step = ErasureStep()
            try db.inTransaction(.immediate) {
                step.ledgerEntries = try Prepared(EmbeddedErasureSQL.renameLedger, db).execute {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    $0.text(alias.text)
                    $0.integer(Int64(max(1, limit)))
                }
                try Prepared(EmbeddedErasureSQL.dropBuried, db).execute {
                    $0.text(workspace.text)
                    $0.text(FieldValue.string(user.text).json)
                }
                step.bodies = try Prepared(EmbeddedErasureSQL.dropAllBodies, db).execute { $0.text(workspace.text) }
                try Prepared(OperatingSQL.dropEndedOfUser, db).execute {
                    $0.text(workspace.text)
                    $0.text(user.text)
                }
                try Prepared(OperatingSQL.renameActs, db).execute {
                    $0.text(workspace.text)
                    $0.text(user.text)
                    $0.text(alias.text)
                }
                for sql in [AccountSQL.dropAccountOfUser, AccountSQL.endSignIns] {
                    try Prepared(sql, db).execute {
                        $0.text(workspace.text)
                        $0.text(user.text)
                    }
                }
                return .commit
            }
            step.isDone = step.ledgerEntries < max(1, limit)
            return step
        }
    }

    /// One write; see `Erasing`.
    package func endErasure(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        try await onWriter { db in
            _ = try Prepared(EmbeddedErasureSQL.endUser, db).execute {
                $0.text(workspace.text)
                $0.text(user.text)
            }
        }
    }
}
