import GRDB
public import TidemarkModel

/// The records of one collection as an app's models. A read sees local writes at once, and others' writes as soon as
/// they have arrived. No call waits for the network, except `fetch` and `syncNow`.
///
/// ## Topics
///
/// ### Reading
///
/// - ``read(_:)``
/// - ``readAll(where:order:limit:after:in:)``
/// - ``count(where:in:)``
/// - ``joining(_:_:)-(KeyPath<Model,UUID>Sendable,_)``
/// - ``joining(_:_:)-(KeyPath<Model,UUID?>Sendable,_)``
///
/// ### Searching
///
/// - ``search(_:where:order:limit:in:)``
/// - ``observeSearch(_:where:order:limit:in:file:line:)``
///
/// ### Observing
///
/// - ``observe(id:file:line:)``
/// - ``observe(where:order:limit:in:whenFilled:file:line:)``
/// - ``observeCount(where:in:file:line:)``
///
/// ### Writing
///
/// - ``create(_:)``
/// - ``update(_:_:)``
/// - ``update(_:from:)``
/// - ``overwrite(_:)``
/// - ``delete(_:)``
/// - ``recordID(_:)``
///
/// ### Fetching what is not on the device
///
/// - ``fetch(_:in:)``
/// - ``loadOlder(in:count:)``
/// - ``olderRecords(in:)``
///
/// ### Looking at problems
///
/// - ``status``
/// - ``syncNow()``
/// - ``undecodable()``
/// - ``rejected()``
/// - ``observeRejected()``
public struct Repository<Model: SyncModel>: Sendable {
    let store: SyncStore

    // MARK: Reading

    /// Returns the record with that id; `nil` when it is not on this device.
    ///
    /// - Throws: `StoreError` with `coding` when the model cannot hold it.
    @concurrent public func read(_ id: Model.ID) async throws -> Model? {
        let reader = try ModelReader<Model>(store.database)
        let id = try store.database.coding(Model.self).key(id).id
        return try await store.database.select(atMost: 1) { db in try reader.model(id, db) }
    }

    /// Returns the records that match. Records that the model cannot hold are left out: see `undecodable()`.
    ///
    ///     let page = try await cards.readAll(
    ///         where: \.columnId == column && \.isArchived == false, order: [.by(\.position)], limit: 50)
    ///
    /// - Parameters:
    ///   - filter: selects the records; every one if it is left out.
    ///   - order: rules, each for records that are equal by those before it. Without rules, the order of the server's
    ///     numbers.
    ///   - limit: the most records that are returned.
    ///   - model: only records after it in the order, as it was when it was read: pass the last model of a page to get
    ///     the next one. The position is found by the model's values, so changes in between make no record be skipped.
    ///     If the model's record is gone, some records that are equal by all rules may come twice.
    ///   - scope: only records of this scope, e.g. `.of(board)`.
    /// - Throws: `StoreError` with `unknownName` or `coding` when the query does not match the schema. With `notFound`
    ///   when a page by creation continues after a record that is no longer on the device.
    @concurrent public func readAll(
        where filter: ModelFilter<Model> = .all, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        after model: Model? = nil, in scope: ScopeID? = nil
    ) async throws -> [Model] {
        let query = try TypedQuery(store.database, filter, order, limit, after: model, in: scope)
        return try await store.database.select(atMost: limit) { db in try query.models(db) }
    }

    /// Returns the records of the collection on this device that the model cannot hold: every list, search and
    /// observation leaves them out. Reads the whole collection.
    ///
    /// The store reports each of them as `SyncLogEvent.undecodable` when a read first meets it, and `diagnostics()`
    /// names them.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    @concurrent public func undecodable() async throws -> [UndecodableRecord] {
        let reader = try ModelReader<Model>(store.database)
        let query = try RecordQuery(
            try store.database.table(Model.collection), where: nil, order: .oldestFirst, limit: nil, in: nil)
        return try await store.database.select(atMost: nil) { db in try reader.undecodable(query, db) }
    }

    // MARK: Observing

    /// Observes the record with that id: now and after each change; `nil` while there is none that the model can hold.
    public func observe(id: Model.ID, file: StaticString = #fileID, line: UInt = #line) -> LiveValues<Model?> {
        LiveValues(
            store.database, of: ObservationOrigin("one of \(Model.collection)", file, line), atMost: 1,
            fetch: { [database = store.database] db in
                let query = RecordQuery(try database.coding(Model.self).key(id).id)
                return try ModelReader<Model>(database).page(query, db)
            }, map: { $0.models.first })
    }

    /// Observes the records that match: now and after each change. If the filter does not match the schema, the
    /// sequence throws.
    ///
    ///     for try await page in cards.observe(where: \.columnId == column, order: [.by(\.position)], limit: 50) { … }
    ///
    /// - Parameters:
    ///   - filter: selects the records; every one if it is left out.
    ///   - order: rules, as in `readAll`.
    ///   - limit: the most records that are returned; `nil` for all. If a list of a scope without a filter has fewer,
    ///     it asks once for older records, as `loadOlder` does: those that the cache's policy evicted or did not fetch.
    ///   - scope: only records of this scope, e.g. `.of(board)`.
    ///   - whenFilled: when true, waits for the missing pages of the scope, or of every scope when none is named.
    ///     Records arrive newest first, and one on the device may refer to one that is not there yet. Local writes also
    ///     wait then.
    ///   - file: the file of the call, for diagnostics; leave it out.
    ///   - line: the line of the call; leave it out.
    public func observe(
        where filter: ModelFilter<Model> = .all, order: [ModelOrder<Model>] = [], limit: Int? = nil,
        in scope: ScopeID? = nil, whenFilled: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[Model]> {
        let origin = ObservationOrigin(Model.collection, file, line)
        let older = OlderDemand(store, Model.collection, where: filter.filter, limit: limit, in: scope)
        let fetch = { @Sendable [self] (db: Database) in
            let page = try TypedQuery(store.database, filter, order, limit, after: nil, in: scope).page(db)
            try older?.look(at: page.models.count, db)
            return page
        }
        let map = { @Sendable (page: ModelPage<Model>) in
            // A list is shown even if the disk refuses the request for older records: the next list asks again.
            try? older?.ask()
            return page.models
        }
        guard whenFilled else {
            return LiveValues(store.database, of: origin, atMost: limit, fetch: fetch, map: map)
        }
        let isReady = { @Sendable (db: Database) in try !ScopeTable(db: db).isFilling(anyOr: scope) }
        return LiveValues(store.database, of: origin, when: isReady, fetch: fetch, map: map)
    }

    // MARK: Writing

    /// Creates the record under the model's id; returns after the local commit.
    ///
    /// - Throws: as `SyncStore.write(_:)` does, for example `rejected(.forbidden)`.
    @discardableResult
    public func create(_ model: Model) async throws -> WriteReceipt {
        try await store.write { $0.create(model) }
    }

    /// Makes the stored record equal to the model, even where others have changed it since; see
    /// `WriteBatch.overwrite(_:)`.
    ///
    /// - Returns: the receipt; it has no steps when nothing differs.
    /// - Throws: as `SyncStore.write(_:)` does, with `rejected(.notFound)` for a record that is not on this device.
    @discardableResult
    public func overwrite(_ model: Model) async throws -> WriteReceipt {
        try await store.write { $0.overwrite(model) }
    }

    /// Writes the difference between two states of a model, as a form does: others' changes of other fields stay. See
    /// `WriteBatch.update(_:from:)`.
    ///
    /// - Parameters:
    ///   - model: the edited state.
    ///   - original: the state that was read when the edit began.
    /// - Returns: the receipt; it has no steps when nothing differs.
    /// - Throws: as `SyncStore.write(_:)` does, for example `rejected(.conflict)` for a changed `manual` field.
    @discardableResult
    public func update(_ model: Model, from original: Model) async throws -> WriteReceipt {
        try await store.write { $0.update(model, from: original) }
    }

    /// Edits the stored record; `change` gets its latest state.
    ///
    /// - Throws: as `SyncStore.write(_:)` does, with `rejected(.notFound)` for a record that is not on this device; any
    ///   error of `change`. Nothing is then written.
    @discardableResult
    public func update(
        _ id: Model.ID, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> WriteReceipt {
        try await store.write { $0.update(Model.self, id, change) }
    }

    /// Deletes the record.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    @discardableResult
    public func delete(_ id: Model.ID) async throws -> WriteReceipt {
        try await store.write { $0.delete(Model.self, id) }
    }
}
