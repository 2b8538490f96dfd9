public import Foundation
public import Tidemark

/// One shop in a store that was opened with `RepairShopSchema.schema()`.
///
///     let shop = try await RepairShop.create(Shop(name: "Fix it", staff: [store.account]), in: store)
///     try await shop.orders.updateOrderStatus(order.id, to: .ready)
///     for await listing in shop.orders.list(status: .ready) { show(listing.records, listing.isLoading) }
public struct RepairShop: Sendable {
    public let id: UUID
    /// The clients' orders.
    public let orders: ShopRecords<Order>
    /// The tickets: matters to follow up.
    public let tickets: ShopRecords<Ticket>
    /// The customers.
    public let clients: ShopRecords<Client>
    /// The devices that clients brought in, each a part of an order.
    public let devices: ShopRecords<Device>

    /// The models of the records, for `SyncStore.open`.
    public static let models: [any SyncModel.Type] = [
        Shop.self, Order.self, Ticket.self, TicketMessage.self, Client.self, Device.self,
    ]

    public init(_ id: UUID, in store: SyncStore) {
        self.id = id
        orders = ShopRecords(store, shop: id, order: [.by(\.received, .descending), .by(\.id, .descending)])
        tickets = ShopRecords(
            store, shop: id, order: [.by(\.priority, .descending), .by(\.opened, .descending), .by(\.id, .descending)],
            reckon: Ticket.reckoned)
        clients = ShopRecords(store, shop: id, reckon: Client.reckoned)
        devices = ShopRecords(store, shop: id)
    }

    /// Opens a shop.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    public static func create(_ shop: Shop, in store: SyncStore) async throws -> RepairShop {
        try await store.repository(Shop.self).create(shop)
        return RepairShop(shop.id, in: store)
    }
}
