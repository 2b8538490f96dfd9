public import Foundation
public import Tidemark

/// The records of one kind of one shop in a store.
public struct StoredRecords<Model: ShopRecord>: ShopRepository {
    let store: SyncStore
    let shop: UUID

    public init(_ store: SyncStore, shop: UUID) {
        self.store = store
        self.shop = shop
    }

    public func list() -> Listings<Model> {
        list(Model.self, where: .all, order: [.newestFirst])
    }

    public func read(_ id: UUID) async throws -> Model {
        guard let model = try await store.repository(Model.self).read(id), model.shopId == shop else {
            throw notFound(id)
        }
        return model
    }

    @discardableResult
    public func create(_ model: Model) async throws -> WriteReceipt {
        try await store.repository(Model.self).create(model)
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

    /// Writes to a record if it is one of this shop's.
    private func write(_ id: UUID, _ body: @escaping @Sendable (inout WriteBatch) -> Void) async throws -> WriteReceipt
    {
        try await store.readAndWrite { snapshot, batch in
            guard try snapshot.read(Model.self, id)?.shopId == shop else { throw notFound(id) }
            body(&batch)
        }
        .receipt
    }

    private func notFound(_ id: UUID) -> RepairShopError { .notFound(collection: Model.collection, id: id) }

    /// Lists with whether the shop's records of this kind are all here.
    func list<Listed: ShopRecord>(
        _ model: Listed.Type, where filter: ModelFilter<Listed>, order: [ModelOrder<Listed>]
    ) -> Listings<Listed> {
        let scope = ScopeID(record: shop)
        return Listings(
            store.observe { snapshot in
                let filling = try snapshot.rows(
                    "SELECT 1 AS yes FROM tidemark_scope_page WHERE scope = ? AND collection = ? AND is_complete = 0",
                    [.string(scope.text), .string(Listed.collection)])
                let records = try snapshot.models(Listed.self, where: filter, order: order, in: scope)
                return Listing(records: records, isLoading: !filling.isEmpty)
            })
    }
}
