public import Foundation
import GRDB
public import TidemarkModel

/// The records of a collection, each with the one that a property refers to: a list of orders with their customers.
///
///     let orders = store.repository(Order.self).joining(\.clientId, Client.self)
///     for try await page in orders.observe(where: \.status == .ready, order: [.by(\.received)], limit: 50) {
///         print(page.map { "\($0.problem) for \($0.joined?.name ?? "…")" })
///     }
///
/// Filter, order, limit and pages go by the list's own records; the others are found by their ids, each once however many
/// refer to it. `StoreError` with `unknownName` says when the property is no reference, or one to another collection.
public struct JoinedRepository<Model: SyncModel, Other: SyncModel>: Sendable {
    let store: SyncStore
    let reference: @Sendable (Model) -> UUID?
    /// The field's name, or why there is none.
    let field: Result<String, StoreError>

    /// The records that fit, each with the one that it refers to, as they are at one moment.
    ///
    /// - Parameters:
    ///   - filter: which records of the list.
    ///   - joined: only records that refer to one which is here and fits; `.all` asks no more than that it is here.
    ///   - order: as in `Repository.readAll`.
    ///   - limit: the most that are answered; `nil` for all.
    ///   - row: only what comes after it in the order: the last of a page gives the next one.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    /// - Throws: `StoreError` with `unknownName` or `coding` for what does not fit the schema.
    @concurrent public func readAll(
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, after row: Joined<Model, Other>? = nil, in scope: ScopeID? = nil
    ) async throws -> [Joined<Model, Other>] {
        let query = try JoinedQuery(self, filter, joined, order, limit, after: row?.model, in: scope)
        return try await store.database.readIndexed { db in try query.rows(db) }
    }

    /// The same, now and after each change of a record of the list or of one that is referred to.
    ///
    /// - Parameters:
    ///   - filter: which records of the list.
    ///   - joined: only records that refer to one which is here and fits.
    ///   - order: how they are sorted.
    ///   - limit: the most that are answered; `nil` for all.
    ///   - scope: only records of this scope, e.g. `ScopeID(record: board.id)`.
    ///   - whenFilled: waits while pages of the scope are to come, or of any scope where none is named.
    ///   - file: where the observation begins, as diagnostics name it; leave it out.
    ///   - line: the same.
    public func observe(
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, in scope: ScopeID? = nil, whenFilled: Bool = false,
        file: StaticString = #fileID, line: UInt = #line
    ) -> LiveValues<[Joined<Model, Other>]> {
        LiveValues(
            store.database, of: ObservationOrigin("\(Model.collection) with \(Other.collection)", file, line),
            when: { db in try !whenFilled || !ScopeTable(db: db).isFilling(anyOr: scope) },
            fetch: { [self] db in try JoinedQuery(self, filter, joined, order, limit, after: nil, in: scope).page(db) },
            map: { [self] page in try page.rows(pairing) })
    }

    var pairing: JoinedPairing<Model, Other> {
        get throws {
            JoinedPairing(reference: reference, collection: try store.database.coding(Other.self).collection)
        }
    }
}

extension Repository {
    /// The records of this collection, each with the one that a property refers to.
    ///
    ///     let rows = try await cards.joining(\.boardId, Board.self).readAll(where: \.isDone != true)
    public func joining<Other: SyncModel>(
        _ property: any KeyPath<Model, UUID> & Sendable, _ other: Other.Type
    ) -> JoinedRepository<Model, Other> {
        JoinedRepository(store: store, reference: { $0[keyPath: property] }, field: PropertyNames.result(of: property))
    }

    /// The same by a reference that need not be set.
    public func joining<Other: SyncModel>(
        _ property: any KeyPath<Model, UUID?> & Sendable, _ other: Other.Type
    ) -> JoinedRepository<Model, Other> {
        JoinedRepository(store: store, reference: { $0[keyPath: property] }, field: PropertyNames.result(of: property))
    }
}

extension StoreSnapshot {
    /// The records that fit, each with the one that a property refers to; see `JoinedRepository.readAll`.
    ///
    ///     store.observe { try $0.models(Order.self, joining: \.clientId, Client.self, where: \.status == .ready) }
    public func models<Model: SyncModel, Other: SyncModel>(
        _ type: Model.Type, joining property: any KeyPath<Model, UUID> & Sendable, _ other: Other.Type,
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, in scope: ScopeID? = nil
    ) throws -> [Joined<Model, Other>] {
        try rows(store.repository(type).joining(property, other), filter, joined, order, limit, scope)
    }

    /// The same by a reference that need not be set.
    public func models<Model: SyncModel, Other: SyncModel>(
        _ type: Model.Type, joining property: any KeyPath<Model, UUID?> & Sendable, _ other: Other.Type,
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, in scope: ScopeID? = nil
    ) throws -> [Joined<Model, Other>] {
        try rows(store.repository(type).joining(property, other), filter, joined, order, limit, scope)
    }

    private func rows<Model: SyncModel, Other: SyncModel>(
        _ list: JoinedRepository<Model, Other>, _ filter: ModelFilter<Model>, _ joined: ModelFilter<Other>?,
        _ order: [ModelOrder<Model>], _ limit: Int?, _ scope: ScopeID?
    ) throws -> [Joined<Model, Other>] {
        try JoinedQuery(list, filter, joined, order, limit, after: nil, in: scope).rows(db)
    }
}
