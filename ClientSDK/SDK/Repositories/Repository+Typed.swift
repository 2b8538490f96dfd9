import GRDB
import GRDBSQLite
public import TidemarkModel

extension Repository {
    /// Counts the records that match, without those that the model cannot hold and that lists leave out.
    ///
    /// To do so it reads the records, but not more than 10,000: beyond that, records that the model cannot hold are
    /// counted, too.
    ///
    /// - Throws: `StoreError` with `unknownName` or `coding` for a filter that does not match the schema.
    @concurrent public func count(where filter: ModelFilter<Model> = .all, in scope: ScopeID? = nil) async throws -> Int
    {
        let count = try RecordCount<Model>(store.database, filter, scope)
        return try await store.database.select(atMost: nil) { db in try count.read(db) }
    }

    /// Observes the number of records that match: now and after each change of it; see `count(where:in:)`.
    public func observeCount(
        where filter: ModelFilter<Model> = .all, in scope: ScopeID? = nil, file: StaticString = #fileID,
        line: UInt = #line
    ) -> LiveValues<Int> {
        let database = store.database
        return LiveValues(
            database, of: ObservationOrigin("count of \(Model.collection)", file, line),
            fetch: { db in try RecordCount<Model>(database, filter, scope).read(db) }, map: { $0 })
    }
}

extension StoreSnapshot {
    /// Returns the records that match, as `Repository.readAll` does.
    ///
    ///     store.observe { try $0.readAll(Order.self, where: \.status == .ready, order: [.by(\.received)]) }
    ///
    /// - Throws: as `Repository.readAll` does.
    public func readAll<Model: SyncModel>(
        _ type: Model.Type, where filter: ModelFilter<Model> = .all, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        after model: Model? = nil, in scope: ScopeID? = nil
    ) throws -> [Model] {
        try TypedQuery(store.database, filter, order, limit, after: model, in: scope).models(db)
    }

    /// Counts the records that match; see `Repository.count(where:in:)`.
    ///
    /// - Throws: as `Repository.count(where:in:)` does.
    public func count<Model: SyncModel>(
        _ type: Model.Type, where filter: ModelFilter<Model> = .all, in scope: ScopeID? = nil
    ) throws -> Int {
        try RecordCount<Model>(store.database, filter, scope).read(db)
    }
}

/// A page of records by properties.
struct TypedQuery<Model: SyncModel>: Sendable {
    private let reader: ModelReader<Model>
    private let table: CollectionTable
    private let query: RecordQuery
    /// The same query with records without a value, which sort last; `nil` when the first query includes them.
    private let whole: RecordQuery?
    private let limit: Int?
    /// The record that must still be on the device.
    private let start: UniqueID?

    init(
        _ database: LocalDatabase, _ filter: ModelFilter<Model>, _ rules: [ModelOrder<Model>], _ limit: Int?,
        after model: Model?, in scope: ScopeID?
    ) throws {
        reader = try ModelReader(database)
        table = try database.table(Model.collection)
        self.limit = limit
        let order = RecordOrder(rules)
        guard let model else {
            query = try RecordQuery(table, where: filter.filter, order: order, limit: limit, in: scope)
            (whole, start) = (nil, nil)
            return
        }
        let coding = ModelCoding<Model>(collection: table.collection)
        let id = try coding.key(model.id).id
        var continuation = Continuation(id: id, fields: try coding.encoded(model))
        let make = { [table] continuation in
            try RecordQuery(
                table, where: filter.filter, order: order, limit: limit, in: scope, after: continuation)
        }
        query = try make(continuation)
        continuation.isWhole = true
        whole = order.terms.first.map(\.isDescending) == true ? try make(continuation) : nil
        start = order.terms.contains { $0.key == .creation } ? id : nil
    }

    /// Returns the models with the data that tells later whether anything changed; only for a query without a start
    /// record.
    func page(_ db: Database) throws -> ModelPage<Model> { try reader.page(query, db) }

    func models(_ db: Database) throws -> [Model] {
        if let start {
            let isHere = try db.exists("SELECT 1 FROM \(table.quotedName) WHERE local_id = ?", [start.description])
            guard isHere else {
                throw StoreError(
                    .notFound,
                    "\(table.collection.name)/\(start): is no longer on this device, so no page can start after it: read from the first page"
                )
            }
        }
        let models = try reader.models(query, db)
        guard let whole, limit.map({ models.count < $0 }) ?? true else { return models }
        return try reader.models(whole, db)
    }
}

/// Counts the records that match.
struct RecordCount<Model: SyncModel>: Sendable {
    private let database: LocalDatabase
    private let table: CollectionTable
    private let reader: ModelReader<Model>
    private let query: RecordQuery

    init(_ database: LocalDatabase, _ filter: ModelFilter<Model>, _ scope: ScopeID?) throws {
        self.database = database
        reader = try ModelReader(database)
        table = try database.table(Model.collection)
        query = try RecordQuery(counting: table, where: filter.filter, in: scope)
    }

    func read(_ db: Database) throws -> Int {
        let rows = try rows(db)
        guard (1...database.limits.countedByReadingMax).contains(rows) else { return rows }
        return try reader.models(query, db).count
    }

    private func rows(_ db: Database) throws -> Int {
        try database.unindexed.look(at: query, table, db)
        let statement = try db.reading("SELECT count(*) FROM \(table.quotedName) \(query.clause)")
        let rows = try RowCursor(statement, query.arguments)
        defer { rows.close() }
        return try rows.step() ? Int(sqlite3_column_int64(rows.statement, 0)) : 0
    }
}
