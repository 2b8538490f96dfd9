import GRDB
public import TidemarkModel

extension Repository {
    /// Finds records by words in the fields that the schema marks with `"search": true`; it needs no network.
    ///
    ///     let hits = try await messages.search("tide mar", order: .newestFirst, limit: 20)
    ///
    /// All words must occur, in any case, with or without accents and vowel points; each may be the beginning of a
    /// longer word. In scripts without spaces, any part of a text is found. An emoji or a flag is a word. Any input is
    /// valid: punctuation is ignored.
    ///
    /// - Parameters:
    ///   - text: the text as the user typed it.
    ///   - filter: selects among the records found.
    ///   - order: the order of the hits.
    ///   - limit: the most hits that are returned.
    ///   - scope: only records of this scope.
    /// - Throws: `StoreError` with `unknownName` when the collection has no such field.
    public func search(
        _ text: String, where filter: ModelFilter<Model> = .all, order: SearchOrder<Model> = .relevance,
        limit: Int = 50,
        in scope: ScopeID? = nil
    ) async throws -> [SearchHit<Model>] {
        let coding = try store.database.coding(Model.self)
        let query = try query(text, filter, order, limit, scope)
        let found = try await store.database.readIndexed { db in try query.fetch(db) }
        return coding.hits(found, store.database)
    }

    /// Observes the result of `search`: now and after each change.
    public func observeSearch(
        _ text: String, where filter: ModelFilter<Model> = .all, order: SearchOrder<Model> = .relevance,
        limit: Int = 50,
        in scope: ScopeID? = nil, file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[SearchHit<Model>]> {
        let database = store.database
        return LiveValues(
            database, of: ObservationOrigin("search in \(Model.collection)", file, line),
            fetch: { [self] db in try query(text, filter, order, limit, scope).fetch(db) },
            map: { found in try database.coding(Model.self).hits(found, database) })
    }

    private func query(
        _ text: String, _ filter: ModelFilter<Model>, _ order: SearchOrder<Model>, _ limit: Int, _ scope: ScopeID?
    ) throws -> SearchQuery {
        try SearchQuery(
            try store.database.table(Model.collection), SearchTerms(text), where: filter.filter, order: order.key,
            limit: limit,
            in: scope)
    }
}

extension SyncStore {
    /// Finds records of a collection; see `Repository.search`.
    ///
    ///     let hits = try await store.search("battery", in: Message.self, order: .newestFirst, limit: 20)
    ///
    /// - Throws: as `Repository.search` does.
    public func search<Model: SyncModel>(
        _ text: String, in model: Model.Type, order: SearchOrder<Model> = .relevance, limit: Int = 50
    ) async throws -> [SearchHit<Model>] {
        try await repository(model).search(text, order: order, limit: limit)
    }
}

extension StoreSnapshot {
    /// Finds records; see `Repository.search`.
    ///
    /// - Throws: as `Repository.search` does.
    public func search<Model: SyncModel>(
        _ text: String, in model: Model.Type, where filter: ModelFilter<Model> = .all,
        order: SearchOrder<Model> = .relevance, limit: Int = 50, in scope: ScopeID? = nil
    ) throws -> [SearchHit<Model>] {
        let coding = try store.database.coding(Model.self)
        let query = try SearchQuery(
            try store.database.table(Model.collection), SearchTerms(text), where: filter.filter, order: order.key,
            limit: limit,
            in: scope)
        let found: [SearchQuery.Found]
        do {
            found = try query.fetch(db)
        } catch is RowsWait where underway != nil {
            // Only this transaction can bring the index up to date while it writes.
            while try store.database.searchUpkeep.index(db) {}
            found = try query.fetch(db)
        }
        return coding.hits(found, store.database)
    }
}

extension ModelCoding {
    /// Returns the hits; records that the model cannot hold are left out.
    fileprivate func hits(_ found: [SearchQuery.Found], _ database: LocalDatabase) -> [SearchHit<Model>] {
        var undecodable: [UndecodableRecord] = []
        let hits = found.compactMap { found -> SearchHit<Model>? in
            do throws(Undecodable) {
                let model = try decoded(found.row.record, found.row.state)
                return SearchHit(model: model, snippet: SearchSnippet(marked: found.snippet))
            } catch {
                undecodable.append(error.record)
                return nil
            }
        }
        if !undecodable.isEmpty { database.undecodable.note(undecodable, of: Model.self) }
        return hits
    }
}
