import GRDB
import GRDBSQLite
public import TidemarkModel

// The compiler checks the names and types of these; those with strings are for what is known at run time only.
extension Repository {
    /// The records that fit, by properties of the model.
    ///
    ///     let page = try await cards.readAll(
    ///         where: \.columnId == column && \.isArchived == false, order: [.by(\.position)], limit: 50)
    ///
    /// - Parameters:
    ///   - filter: which records; `.all` for every one.
    ///   - order: rules, each for records that are equal by those before; as the server numbered them when there are
    ///     none.
    ///   - limit: the most that are answered.
    ///   - model: only what comes after it in the order, as it was when it was read: the last of a page gives the
    ///     next one.
    ///     It goes by the model's values, so changes in between make no record be left out. Of several that are
    ///     equal by
    ///     all rules some may come twice once the model's record is gone.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    /// - Throws: `StoreError` with `unknownName` or `coding` for what does not fit the schema, with `notFound` when it goes
    ///   on by creation after a record that is no longer here.
    @concurrent public func readAll(
        where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil, after model: Model? = nil,
        in scope: ScopeID? = nil
    ) async throws -> [Model] {
        let query = try TypedQuery(store.database, filter, order, limit, after: model, in: scope)
        return try await store.database.select(atMost: limit) { db in try query.models(db) }
    }

    /// Counts the records that fit, without those that the model cannot hold and that lists leave out.
    ///
    /// For that the records are read. More than 10,000 are not: of those, what the model cannot hold counts as well.
    @concurrent public func count(where filter: ModelFilter<Model> = .all, in scope: ScopeID? = nil) async throws -> Int
    {
        let count = try RecordCount<Model>(store.database, filter, scope)
        return try await store.database.select(atMost: nil) { db in try count.read(db) }
    }

    /// The records that fit, now and after each change. A filter that does not fit the schema makes the sequence throw.
    ///
    ///     for try await page in cards.observe(where: \.columnId == column, order: [.by(\.position)], limit: 50) { … }
    ///
    /// - Parameters:
    ///   - filter: which records; `.all` for every one.
    ///   - order: rules, as in `readAll`.
    ///   - limit: the most that are answered; `nil` for all.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    ///   - whenFilled: waits while pages of the scope are to come, or of any scope where none is named: records come
    ///     newest first, and one that is here may refer to one that is not yet. Local writes wait as well then.
    ///   - file: where the observation begins, as diagnostics name it; leave it out.
    ///   - line: the same.
    public func observe(
        where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        in scope: ScopeID? = nil, whenFilled: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[Model]> {
        observe(
            where: filter.filter, orderBy: RecordOrder(order), limit: limit, in: scope, whenFilled: whenFilled,
            file: file, line: line)
    }

    /// The number of records that fit, now and after each change of it; see `count(where:in:)`.
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
    /// The records that fit, as `Repository.readAll` gives them.
    ///
    ///     store.observe { try $0.models(Order.self, where: \.status == .ready, order: [.by(\.received, .descending)]) }
    public func models<Model: SyncModel>(
        _ type: Model.Type, where filter: ModelFilter<Model>, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        after model: Model? = nil, in scope: ScopeID? = nil
    ) throws -> [Model] {
        try TypedQuery(store.database, filter, order, limit, after: model, in: scope).models(db)
    }

    /// Counts the records that fit; see `Repository.count(where:in:)`.
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
    /// The same with what has no value and comes after all that have; `nil` where the first has it already.
    private let whole: RecordQuery?
    private let limit: Int?
    /// The record that must still be here.
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
            query = try RecordQuery(table, where: filter.filter, orderBy: order, limit: limit, in: scope)
            (whole, start) = (nil, nil)
            return
        }
        let coding = ModelCoding<Model>(collection: table.collection)
        let id = try coding.key(model.id).id
        var continuation = Continuation(id: id, fields: try coding.encoded(model))
        let make = { [table] continuation in
            try RecordQuery(
                table, where: filter.filter, orderBy: order, limit: limit, in: scope, after: continuation)
        }
        query = try make(continuation)
        continuation.isWhole = true
        whole = order.terms.first.map(\.isDescending) == true ? try make(continuation) : nil
        start = order.terms.contains { $0.key == .creation } ? id : nil
    }

    /// The models with what is needed to see later whether anything changed; of a query that goes on after no record.
    func page(_ db: Database) throws -> ModelPage<Model> { try reader.page(query, db) }

    func models(_ db: Database) throws -> [Model] {
        if let start {
            let isHere = try db.exists("SELECT 1 FROM \(table.quotedName) WHERE local_id = ?", [start.description])
            guard isHere else {
                throw StoreError(
                    .notFound,
                    "\(table.collection.name)/\(start): is no longer here, so the list has no place after it to go on from"
                )
            }
        }
        let models = try reader.models(query, db)
        guard let whole, limit.map({ models.count < $0 }) ?? true else { return models }
        return try reader.models(whole, db)
    }
}

/// The number of records that fit.
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
