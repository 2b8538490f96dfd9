import TidemarkModel
import TidemarkStore

/// Rows as the contract's values; each names the columns that its query must give, in this order.
extension ColumnReader {
    static let headColumns = "seq, nonce, time, epoch"
    static let recordColumns = "collection, id, scope, seq, born, deleted, author, created, updated, body"
    static let storedClientColumns = "client, user, settled, acked, connection, kept"
    static let grantColumns = "scope, since, role"

    mutating func head() -> Head {
        Head(seq: integer(), nonce: UInt64(bitPattern: integer()), time: integer(), epoch: integer())
    }

    mutating func record() throws -> StoredRecord {
        StoredRecord(
            key: RecordKey(collection: text(), id: try id()), scope: ScopeID(text()), seq: integer(), born: integer(),
            isDeleted: integer() != 0, author: UserID(text()), created: integer(), updated: integer(),
            body: optionalBytes() ?? [])
    }

    mutating func storedClient() throws -> StoredClient {
        let row = ClientRow(
            id: try id(), user: UserID(text()), settledThrough: integer(), ackedThrough: integer(),
            connection: integer())
        return try StoredClient(row: row, keptBytes: optionalBytes() ?? [])
    }

    mutating func grant() throws -> Grant {
        let scope = ScopeID(text())
        let since = integer()
        guard let role = Role(rawValue: text()) else { throw StoreError(.invariant, "a stored role is unknown") }
        return Grant(scope: scope, since: since, role: role)
    }
}
