public import Foundation
import GRDB
public import TidemarkModel

/// A record as this device held it when the server's database went back to before it, or to before its last change.
///
/// It is no part of the app's data: whoever wrote it may bring it back, or never return.
public struct RescuedRecord: Codable, Hashable, Sendable, Identifiable {
    /// Names the entry, not the record: it may have been rescued more than once.
    public let id: Int64
    public let collection: String
    /// The record's id.
    public let record: UUID
    /// The scope that it belonged to.
    public let scope: String
    /// The number of its last change in the lost order.
    public let number: SequenceNumber
    /// Who created it.
    public let author: String
    /// When it was changed last, by the server's clock.
    public let updated: Date?
    /// The fields, as one JSON object.
    public let body: String
    /// When it was lost to this device, by the server's clock.
    public let rescued: Date
    /// The record is here again with the same fields: whoever wrote it has brought it back. False for what is lost, and for what
    /// was changed since.
    public let isBack: Bool
}

/// Rows of `tidemark_rescue`.
struct RescueTable {
    let db: Database

    private static let columns = "id, collection, local_id, scope, number, author, updated, body, rescued"

    /// The newest first.
    func all() throws -> [RescuedRecord] {
        try db.all("SELECT \(Self.columns) FROM tidemark_rescue ORDER BY id DESC").map(record)
    }

    /// The last entry of each record that there is one of.
    func last(of keys: [RecordKey]) throws -> [RescuedRecord] {
        let sql = """
            SELECT \(Self.columns) FROM tidemark_rescue
            WHERE collection = ? AND local_id = ?
            ORDER BY id DESC LIMIT 1
            """
        return try keys.compactMap { try db.first(sql, $0.arguments).map(record) }
    }

    private func record(_ row: Row) throws -> RescuedRecord {
        let (key, body) = (try row.key(1), try row.text(7))
        return RescuedRecord(
            id: try row.integer(0), collection: key.collection, record: UUID(key.id), scope: try row.text(3),
            number: try row.integer(4), author: try row.text(5),
            updated: try row.optionalInteger(6).map { Date(milliseconds: $0) }, body: body,
            rescued: Date(milliseconds: try row.integer(8)),
            isBack: try RecordStoryReader(db: db).shows(body, as: key))
    }
}

extension SyncStore {
    /// What others wrote, was here, and was lost by the server when its database went back, the newest first; at most 16 MiB of it
    /// are kept. The event ``SyncLogEvent/rewound(from:to:_:)`` tells when there is more.
    ///
    ///     for lost in try await store.rescued() where !lost.isBack { print(lost.collection, lost.author, lost.body) }
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func rescued() async throws -> [RescuedRecord] {
        try await database.read { db in try RescueTable(db: db).all() }
    }

    /// Forgets what was rescued.
    ///
    /// - Throws: `StoreError` when it cannot be written.
    public func discardRescued() async throws {
        try await database.change { db in try db.run("DELETE FROM tidemark_rescue") }
    }
}

extension ParkedTransaction {
    /// The records that the write was about as this device held them last, where the server has lost them: what there is to
    /// decide on.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func lastKnown() async throws -> [RescuedRecord] {
        let keys = Set(mutations.map(\.key)).sorted()
        return try await database.read { db in try RescueTable(db: db).last(of: keys) }
    }
}
