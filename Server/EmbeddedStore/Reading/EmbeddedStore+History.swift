import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// One search in the primary key.
    package func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, in workspace: WorkspaceID
    ) async throws(StoreError) -> LedgerPage {
        try await onReader { [limits] db in
            let entries = try Prepared(LedgerSQL.history, db).all(
                {
                    $0.key(workspace, key)
                    $0.text(scope.text)
                    $0.integer(before)
                }, { try $0.ledgerEntry() })
            let head = try FeedQuery(db: db, workspace: workspace).head()
            return LedgerPage(entries, at: head, limit: limit, limits: limits)
        }
    }
}

extension ColumnReader {
    fileprivate mutating func ledgerEntry() throws -> LedgerEntry {
        let key = RecordKey(collection: text(), id: try id())
        let scope = ScopeID(text())
        let seq = integer()
        let value = try OverwrittenValue(stored: text(), rule: text(), old: optionalBytes(), new: optionalBytes())
        return LedgerEntry(
            key: key, scope: scope, seq: seq, value: value, oldAuthor: optionalText().map { UserID($0) },
            author: UserID(text()), client: try id(), app: optionalText(), time: integer())
    }
}
