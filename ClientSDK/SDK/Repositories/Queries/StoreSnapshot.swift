public import Foundation
import GRDB
public import TidemarkModel

/// The whole store at one moment: everything that is read through it is consistent. Use it only inside the closure that
/// receives it.
///
///     let overview = store.observe { snapshot in
///         try snapshot.rows("SELECT status, count(*) AS count FROM orders GROUP BY status")
///     }
public struct StoreSnapshot {
    private let connection: Database
    let store: SyncStore
    /// The transaction that writes while this snapshot reads, if there is one.
    let underway: OpenDraft?

    init(_ db: Database, _ store: SyncStore, writing underway: OpenDraft? = nil) {
        connection = db
        self.store = store
        self.underway = underway
    }

    /// The connection for a read that begins now; earlier steps of the transaction are visible to it.
    ///
    /// - Throws: the error of such a step.
    var db: Database {
        get throws {
            try underway?.catchUp()
            return connection
        }
    }

    /// The user who owns the records.
    public var account: UserID { store.account }

    /// Returns the record with that id; `nil` also when the model cannot hold it, see `Repository.undecodable()`.
    ///
    /// - Throws: `StoreError` with `coding` for a value that is not an id of the collection.
    public func read<Model: SyncModel>(_ model: Model.Type, _ id: Model.ID) throws -> Model? {
        let query = RecordQuery(try store.database.coding(Model.self).key(id).id)
        return try ModelReader<Model>(store.database).models(query, db).first
    }

    /// Returns the records that an SQL clause selects; those that the model cannot hold are left out, see
    /// `Repository.undecodable()`.
    ///
    ///     try snapshot.readAll(Order.self, "WHERE scope = ? AND status <> 'done' ORDER BY received LIMIT 20", [shop])
    ///
    /// - Parameters:
    ///   - model: the model of the collection.
    ///   - clause: the SQL after `FROM collection`. Never put a value into it; write `?` and pass the value as an
    ///     argument.
    ///   - arguments: one value for each `?`.
    /// - Throws: `StoreError` with `databaseFailed` for SQL that is wrong.
    public func readAll<Model: SyncModel>(
        _ model: Model.Type, _ clause: String, _ arguments: [FieldValue] = []
    ) throws -> [Model] {
        try ModelReader<Model>(store.database).models(clause, arguments.map { $0.argument }, db)
    }

    /// Returns the transactions that the server rejected, oldest first.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func rejected() throws -> [RejectedTransaction] {
        try Parking(db: db).parked().map { RejectedTransaction(store: store, stored: $0) }
    }

    /// Returns records of a collection whose creation was rejected, and which are therefore in no table. Each has its
    /// written values, the state `failed`, and the transaction that waits to be retried or discarded. Records that the
    /// model cannot hold are left out; `rejected()` has them.
    ///
    /// - Throws: `StoreError` with `rejected(.unknownCollection)` when the schema has no such collection, or when the
    ///   file cannot be read.
    public func rejectedCreations<Model: SyncModel>(
        _ model: Model.Type
    ) throws -> [(model: Model, transaction: RejectedTransaction)] {
        let coding = try store.database.coding(Model.self)
        var creations: [(model: Model, transaction: RejectedTransaction)] = []
        for transaction in try rejected() {
            for mutation in transaction.mutations where mutation.key.collection == Model.collection {
                guard case .create(let fields) = mutation.action,
                    try RecordTable(db, store.database).visible(mutation.key) == nil
                else { continue }
                var record = LocalRecord(
                    absent: mutation.key, scope: try coding.collection.scope(of: mutation.key.id, fields: fields),
                    author: store.account, created: transaction.written)
                record.fields = fields
                do throws(Undecodable) {
                    creations.append((try coding.decoded(record, .failed), transaction))
                } catch {
                    continue
                }
            }
        }
        return creations
    }

    /// Returns the unsettled writes to records of the scope, by record; the last one where there are several.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func pendingWrites(in scope: ScopeID) throws -> [RecordKey: PendingWrite] {
        let sql = """
            SELECT \(Self.writeColumns)
            FROM tidemark_outbox_record AS r
            JOIN tidemark_outbox AS o ON o.n = r.n
            WHERE r.scope = ?
            ORDER BY r.n
            """
        return try writes(try db.all(sql, [scope.text]))
    }

    /// Returns the unsettled writes to some records of a collection, whatever else waits: for a page of a list.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func pendingWrites(to ids: [UUID], of collection: String) throws -> [RecordKey: PendingWrite] {
        guard !ids.isEmpty else { return [:] }
        let sql = """
            SELECT \(Self.writeColumns)
            FROM json_each(?) AS k
            CROSS JOIN tidemark_outbox_record AS r ON r.collection = ? AND r.local_id = k.value
            JOIN tidemark_outbox AS o ON o.n = r.n
            ORDER BY r.n
            """
        let keys = FieldValue.array(ids.map { .string(UniqueID($0).description) }).json
        return try writes(try db.all(sql, [keys, collection]))
    }

    private static let writeColumns =
        "r.collection, r.local_id, o.created, o.attempts, o.state, o.last_error, o.attempted"

    private func writes(_ rows: [Row]) throws -> [RecordKey: PendingWrite] {
        var writes: [RecordKey: PendingWrite] = [:]
        for row in rows {
            writes[try row.key(0)] = PendingWrite(
                writtenAt: Date(timeIntervalSince1970: Double(try row.integer(2)) / 1_000),
                attempts: Int(try row.integer(3)), isSending: ["sending", "reoffered"].contains(try row.text(4)),
                isStalled: OutboxEntry.State(rawValue: try row.text(4))?.isWithheld ?? false,
                lastAttempt: try row.optionalInteger(6).map { Date(timeIntervalSince1970: Double($0) / 1_000) },
                lastError: try row.optionalText(5))
        }
        return writes
    }
}

// It reads through a connection that belongs to the closure's thread.
@available(*, unavailable)
extension StoreSnapshot: Sendable {}

/// The progress of sending a write.
public struct PendingWrite: Hashable, Sendable {
    /// The time of the write.
    public var writtenAt: Date
    /// The number of attempts to send it.
    public var attempts: Int
    /// True when it is on its way: the server may have it.
    public var isSending: Bool
    /// True when it was unanswered too often, or is behind such a write. It is sent again with the next connection,
    /// after a while on a connection that stays, or after `Outbox.retryStalled()`.
    public var isStalled: Bool
    /// The time of the last attempt, by the device's clock.
    public var lastAttempt: Date?
    /// The reason why it did not arrive, as text for people.
    public var lastError: String?

    public init(
        writtenAt: Date, attempts: Int = 0, isSending: Bool = false, isStalled: Bool = false, lastAttempt: Date? = nil,
        lastError: String? = nil
    ) {
        self.writtenAt = writtenAt
        self.attempts = attempts
        self.isSending = isSending
        self.isStalled = isStalled
        self.lastAttempt = lastAttempt
        self.lastError = lastError
    }
}

extension SyncStore {
    /// Reads several things at one moment.
    ///
    /// - Parameter body: reads from the snapshot. It runs once, or again if it searches and the full-text index lacks
    ///   rows.
    /// - Throws: any error of `body`; `StoreError` when the file cannot be read; `CancellationError`.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (StoreSnapshot) throws -> Value) async throws -> Value
    {
        try await database.readIndexed { [self] db in try body(StoreSnapshot(db, self)) }
    }

    /// Observes what `body` reads: now and after each change of it.
    ///
    /// - Parameters:
    ///   - file: the file of the call, for diagnostics; leave it out.
    ///   - line: the line of the call; leave it out.
    ///   - body: runs after each write that may matter, on a thread of the database, or on the observer's if the last run
    ///     was brief; keep it short.
    public func observe<Value: Equatable & Sendable>(
        file: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (StoreSnapshot) throws -> Value
    ) -> LiveValues<Value> {
        LiveValues(
            database, of: ObservationOrigin("snapshot", file, line),
            fetch: { [self] db in try body(StoreSnapshot(db, self)) }, map: { $0 })
    }
}

extension FieldValue {
    /// The value as an argument of SQL.
    var argument: DatabaseValue {
        switch self {
        case .null: .null
        case .boolean(let flag): (flag ? 1 : 0).databaseValue
        case .integer(let number): number.databaseValue
        case .double(let number): number.databaseValue
        case .string(let text): text.databaseValue
        case .array, .object: json.databaseValue
        }
    }
}
