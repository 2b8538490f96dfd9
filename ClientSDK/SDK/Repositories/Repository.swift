import GRDB
public import TidemarkModel

/// The records of one collection as an app's models. Reads see what is written here at once, and what others wrote as
/// soon as it has arrived; nothing waits for the network.
public struct Repository<Model: SyncModel>: Sendable {
    let store: SyncStore

    // MARK: Reading

    /// The record of that id.
    ///
    /// - Throws: `StoreError` with `coding` when it is here and the model cannot hold it.
    @concurrent public func read(_ id: Model.ID) async throws -> Model? {
        let reader = try ModelReader<Model>(store.database)
        let id = try store.database.coding(Model.self).key(id).id
        return try await store.database.select(atMost: 1) { db in try reader.model(id, db) }
    }

    /// The records that fit. One that the model cannot hold is set aside: see `undecodable()`.
    ///
    /// - Parameters:
    ///   - filter: which records; all when none is given.
    ///   - order: how they are sorted.
    ///   - limit: the most that are answered; `nil` for all.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: conversation.id)`.
    /// - Throws: `StoreError` with `unknownName` or `coding` for a filter that does not fit the schema.
    @concurrent public func readAll(
        where filter: Filter? = nil, orderBy order: RecordOrder = .oldestFirst, limit: Int? = nil,
        in scope: ScopeID? = nil
    ) async throws -> [Model] {
        let reader = try ModelReader<Model>(store.database)
        let query = try query(filter, order, limit, scope)
        return try await store.database.select(atMost: limit) { db in try reader.models(query, db) }
    }

    /// The records of the collection that are here and that the model cannot hold: every list, search and observation goes
    /// on without them. Reads the whole collection.
    ///
    /// The store tells of each as `SyncLogEvent.undecodable` when a read first meets it, and `diagnostics()` names them.
    @concurrent public func undecodable() async throws -> [UndecodableRecord] {
        let reader = try ModelReader<Model>(store.database)
        let query = try query(nil, .oldestFirst, nil, nil)
        return try await store.database.select(atMost: nil) { db in try reader.undecodable(query, db) }
    }

    // MARK: Observing

    /// All records, oldest first, now and after each change.
    public func observe(file: StaticString = #fileID, line: UInt = #line) -> LiveValues<[Model]> {
        observe(where: nil, file: file, line: line)
    }

    /// The record of that id, now and after each change; `nil` while there is none that the model can hold.
    public func observe(id: Model.ID, file: StaticString = #fileID, line: UInt = #line) -> LiveValues<Model?> {
        LiveValues(
            store.database, of: ObservationOrigin("one of \(Model.collection)", file, line), atMost: 1,
            fetch: { [database = store.database] db in
                let query = RecordQuery(try database.coding(Model.self).key(id).id)
                return try ModelReader<Model>(database).page(query, db)
            }, map: { $0.models.first })
    }

    /// The records that fit, now and after each change. A filter that does not fit the schema makes the sequence throw.
    ///
    /// - Parameters:
    ///   - filter: which records; all when none is given.
    ///   - order: how they are sorted.
    ///   - limit: the most that are answered; `nil` for all. A list of a scope without a filter that has fewer asks for older ones,
    ///     once, as `loadOlder` does: those that the cache's policy evicted or left at the server.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    ///   - whenFilled: waits while pages of the scope are to come, or of any scope where none is named: records come
    ///     newest first, and one that is here may refer to one that is not yet. Local writes wait as well then.
    ///   - file: where the observation begins, as diagnostics name it; leave it out.
    ///   - line: the same.
    public func observe(
        where filter: Filter?, orderBy order: RecordOrder = .oldestFirst, limit: Int? = nil, in scope: ScopeID? = nil,
        whenFilled: Bool = false, file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[Model]> {
        let origin = ObservationOrigin(Model.collection, file, line)
        let older = OlderDemand(store, Model.collection, where: filter, limit: limit, in: scope)
        let fetch = { @Sendable [self] (db: Database) in
            let page = try ModelReader<Model>(store.database).page(try query(filter, order, limit, scope), db)
            try older?.look(at: page.models.count, db)
            return page
        }
        let map = { @Sendable (page: ModelPage<Model>) in
            // A list is shown whatever the disk says of the wish: the next one asks again.
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
    @discardableResult
    public func create(_ model: Model) async throws -> WriteReceipt {
        try await store.write { $0.create(model) }
    }

    /// Makes the stored record what the model says, also where others have changed it since; see `WriteBatch.overwrite(_:)`.
    ///
    /// - Returns: a receipt without steps when nothing differs.
    @discardableResult
    public func overwrite(_ model: Model) async throws -> WriteReceipt {
        try await store.write { $0.overwrite(model) }
    }

    /// Writes what differs between two states of a model, as a form does: others' changes of other fields stay. See
    /// `WriteBatch.update(_:from:)`.
    ///
    /// - Parameters:
    ///   - model: as it was edited.
    ///   - original: as it was read when the edit began.
    /// - Returns: a receipt without steps when nothing differs.
    @discardableResult
    public func update(_ model: Model, from original: Model) async throws -> WriteReceipt {
        try await store.write { $0.update(model, from: original) }
    }

    /// Edits the stored record: `change` sees its latest state.
    @discardableResult
    public func update(
        _ id: Model.ID, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> WriteReceipt {
        try await store.write { $0.update(Model.self, id, change) }
    }

    /// Deletes the record.
    @discardableResult
    public func delete(_ id: Model.ID) async throws -> WriteReceipt {
        try await store.write { $0.delete(Model.self, id) }
    }

    private func query(
        _ filter: Filter?, _ order: RecordOrder, _ limit: Int?, _ scope: ScopeID?
    ) throws -> RecordQuery {
        try RecordQuery(
            try store.database.table(Model.collection), where: filter, orderBy: order, limit: limit, in: scope)
    }
}
