public import Foundation
import GRDB
public import TidemarkModel

/// The records of a collection, each with the record that a property refers to: a list of orders with their customers.
///
///     let orders = store.repository(Order.self).joining(\.clientId, Client.self)
///     for try await page in orders.observe(where: \.status == .ready, order: [.by(\.received)], limit: 50) {
///         print(page.map { "\($0.problem) for \($0.joined?.name ?? "…")" })
///     }
///
/// Filter, order, limit and pages apply to the list's own records. The others are found by their ids, each once however
/// many records refer to it. If the property is no reference, or one to another collection, a call throws `StoreError`
/// with `unknownName`.
public struct JoinedRepository<Model: SyncModel, Other: SyncModel>: Sendable {
    let store: SyncStore
    let reference: @Sendable (Model) -> UUID?
    /// The field's name, or the error of its lookup.
    let field: Result<String, StoreError>

    /// Returns the records that match, each with the record that it refers to, all of one moment.
    ///
    /// - Parameters:
    ///   - filter: selects the records of the list.
    ///   - joined: selects records whose reference is on this device and matches; `.all` only requires that it is on
    ///     the device.
    ///   - order: as in `Repository.readAll`.
    ///   - limit: the most records that are returned; `nil` for all.
    ///   - row: only records after it in the order: pass the last row of a page to get the next one.
    ///   - scope: only records of this scope, e.g. `.of(board)`.
    /// - Throws: `StoreError` with `unknownName` or `coding` when the query does not match the schema.
    @concurrent public func readAll(
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, after row: Joined<Model, Other>? = nil, in scope: ScopeID? = nil
    ) async throws -> [Joined<Model, Other>] {
        let query = try JoinedQuery(self, filter, joined, order, limit, after: row?.model, in: scope)
        return try await store.database.readIndexed { db in try query.rows(db) }
    }

    /// Observes the same list: now and after each change of a record of the list or of a referenced one.
    ///
    /// - Parameters:
    ///   - filter: selects the records of the list.
    ///   - joined: selects records whose reference is on this device and matches.
    ///   - order: the order of the rows.
    ///   - limit: the most records that are returned; `nil` for all.
    ///   - scope: only records of this scope, e.g. `.of(board)`.
    ///   - whenFilled: when true, waits for the missing pages of the scope, or of every scope when none is named.
    ///   - file: the file of the call, for diagnostics; leave it out.
    ///   - line: the line of the call; leave it out.
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
    /// Returns the records of this collection, each with the record that a property refers to.
    ///
    ///     let rows = try await cards.joining(\.boardId, Board.self).readAll(where: \.isDone != true)
    public func joining<Other: SyncModel>(
        _ property: any KeyPath<Model, UUID> & Sendable, _ other: Other.Type
    ) -> JoinedRepository<Model, Other> {
        JoinedRepository(store: store, reference: { $0[keyPath: property] }, field: PropertyNames.result(of: property))
    }

    /// Joins by an optional reference.
    public func joining<Other: SyncModel>(
        _ property: any KeyPath<Model, UUID?> & Sendable, _ other: Other.Type
    ) -> JoinedRepository<Model, Other> {
        JoinedRepository(store: store, reference: { $0[keyPath: property] }, field: PropertyNames.result(of: property))
    }
}

extension StoreSnapshot {
    /// Returns the records that match, each with the record that a property refers to; see `JoinedRepository.readAll`.
    ///
    ///     store.observe { try $0.readAll(Order.self, joining: \.clientId, Client.self, where: \.status == .ready) }
    public func readAll<Model: SyncModel, Other: SyncModel>(
        _ type: Model.Type, joining property: any KeyPath<Model, UUID> & Sendable, _ other: Other.Type,
        where filter: ModelFilter<Model> = .all, joined: ModelFilter<Other>? = nil, order: [ModelOrder<Model>] = [],
        limit: Int? = nil, in scope: ScopeID? = nil
    ) throws -> [Joined<Model, Other>] {
        try rows(store.repository(type).joining(property, other), filter, joined, order, limit, scope)
    }

    /// Joins by an optional reference.
    public func readAll<Model: SyncModel, Other: SyncModel>(
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
