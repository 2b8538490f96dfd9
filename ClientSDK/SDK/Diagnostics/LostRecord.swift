public import Foundation
import GRDB
public import TidemarkModel

/// A record as this device held it when the server's database went back to a state before the record, or before its
/// last change.
///
/// It is not part of the app's data: its author may bring it back, or never return.
public struct LostRecord: Codable, Hashable, Sendable, Identifiable {
    /// The id of this entry, not of the record, which may have been lost more than once.
    public let id: Int64
    public let collection: String
    /// The record's id.
    public let record: UUID
    /// The scope of the record.
    public let scope: String
    /// The number of its last change in the lost order.
    public let number: SequenceNumber
    /// The user who created it.
    public let author: String
    /// The time of its last change, by the server's clock.
    public let updatedAt: Date?
    /// The fields, as one JSON object.
    public let body: String
    /// The time when this device lost it, by the server's clock.
    public let lostAt: Date
    /// True when the record is shown again with the same fields: its author has brought it back. False for a record
    /// that is still lost, or was changed since.
    public let isBack: Bool

    // The names in JSON, which `tide inspect` prints.
    private enum CodingKeys: String, CodingKey {
        case id, collection, record, scope, number, author
        case updatedAt = "updated"
        case body
        case lostAt = "rescued"
        case isBack
    }
}

/// The rows of `tidemark_rescue`.
struct RescueTable {
    let db: Database

    private static let columns = "id, collection, local_id, scope, number, author, updated, body, rescued"

    /// Returns all entries, the newest first.
    func all() throws -> [LostRecord] {
        try db.all("SELECT \(Self.columns) FROM tidemark_rescue ORDER BY id DESC").map(record)
    }

    /// Returns the last entry of each of these records that has one.
    func last(of keys: [RecordKey]) throws -> [LostRecord] {
        let sql = """
            SELECT \(Self.columns) FROM tidemark_rescue
            WHERE collection = ? AND local_id = ?
            ORDER BY id DESC LIMIT 1
            """
        return try keys.compactMap { try db.first(sql, $0.arguments).map(record) }
    }

    private func record(_ row: Row) throws -> LostRecord {
        let (key, body) = (try row.key(1), try row.text(7))
        return LostRecord(
            id: try row.integer(0), collection: key.collection, record: UUID(key.id), scope: try row.text(3),
            number: try row.integer(4), author: try row.text(5),
            updatedAt: try row.optionalInteger(6).map { Date(milliseconds: $0) }, body: body,
            lostAt: Date(milliseconds: try row.integer(8)),
            isBack: try RecordStoryReader(db: db).shows(body, as: key))
    }
}

extension SyncStore {
    /// Returns the records of others that were on this device and that the server lost when its database went back, the
    /// newest first. At most 16 MiB of them are kept. The event ``SyncLogEvent/serverWentBack(from:to:_:)`` reports new
    /// ones.
    ///
    ///     for lost in try await store.lostRecords() where !lost.isBack { print(lost.collection, lost.body) }
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func lostRecords() async throws -> [LostRecord] {
        try await database.read { db in try RescueTable(db: db).all() }
    }

    /// Deletes all lost records.
    ///
    /// - Throws: `StoreError` when the file cannot be written.
    public func discardLostRecords() async throws {
        try await database.change { db in try db.run("DELETE FROM tidemark_rescue") }
    }
}

extension RejectedTransaction {
    /// Returns the last known state of the records in this write that the server has lost, to help the app decide.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func lastKnown() async throws -> [LostRecord] {
        let keys = Set(mutations.map(\.key)).sorted()
        return try await database.read { db in try RescueTable(db: db).last(of: keys) }
    }
}
