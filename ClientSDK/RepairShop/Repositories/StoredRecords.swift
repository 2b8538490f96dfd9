public import Foundation
public import Tidemark

/// The records of one kind in one shop, in a store.
public struct StoredRecords<Model: ShopRecord>: ShopRepository {
    /// Adds the values that records show about others.
    typealias Reckoning = @Sendable ([Model], StoreSnapshot) throws -> [Model]

    let store: SyncStore
    let shop: UUID
    private let reckon: Reckoning

    public init(_ store: SyncStore, shop: UUID) { self.init(store, shop: shop) { records, _ in records } }

    init(_ store: SyncStore, shop: UUID, reckon: @escaping Reckoning) {
        self.store = store
        self.shop = shop
        self.reckon = reckon
    }

    public func list() -> Listings<Model> { list(where: .all, order: [.newestFirst]) }

    public func read(_ id: UUID) async throws -> Model {
        let model = try await store.repository(Model.self).fetch(id, in: ScopeID(record: shop))
        guard let model, model.shopId == shop else { throw notFound(id) }
        return try await store.read { [reckon] snapshot in try reckon([model], snapshot).first ?? model }
    }

    @discardableResult
    public func create(_ model: Model) async throws -> WriteReceipt {
        try await store.repository(Model.self).create(model)
    }

    @discardableResult
    public func update(_ edited: Model, from shown: Model) async throws -> WriteReceipt {
        try await write(edited.id) { batch in batch.update(edited, from: shown) }
    }

    @discardableResult
    public func update(
        _ id: UUID, _ change: @escaping @Sendable (inout Model) -> Void
    ) async throws -> WriteReceipt {
        try await write(id) { batch in batch.update(Model.self, id, change) }
    }

    @discardableResult
    public func delete(_ id: UUID) async throws -> WriteReceipt {
        try await write(id) { batch in batch.delete(Model.self, id) }
    }

    /// Writes to a record if it belongs to this shop.
    private func write(_ id: UUID, _ body: @escaping @Sendable (inout WriteBatch) -> Void) async throws -> WriteReceipt
    {
        try await store.readAndWrite { snapshot, batch in
            guard try snapshot.read(Model.self, id)?.shopId == shop else { throw notFound(id) }
            body(&batch)
        }
        .receipt
    }

    private func notFound(_ id: UUID) -> RepairShopError { .notFound(collection: Model.collection, id: id) }

    /// Lists records, with whether all of this kind in the shop have arrived.
    func list(where filter: ModelFilter<Model>, order: [ModelOrder<Model>]) -> Listings<Model> {
        let scope = ScopeID(record: shop)
        return Listings(
            store.observe { [reckon] snapshot in
                // Evicted records are not arriving: none of them remains to come.
                let filling = try snapshot.rows(
                    """
                    SELECT 1 AS yes FROM tidemark_scope_page
                    WHERE scope = ? AND collection = ? AND is_complete = 0 AND remaining IS NOT 0
                    """, [.string(scope.text), .string(Model.collection)])
                let records = try snapshot.models(Model.self, where: filter, order: order, in: scope)
                return Listing(records: try reckon(records, snapshot), isLoading: !filling.isEmpty)
            })
    }
}
