import Foundation
import Tidemark

/// The orders of a shop in a store.
struct StoredOrders: OrderRepository {
    let records: StoredRecords<Order>

    func list() -> Listings<Order> { list(status: nil) }

    func list(status: OrderStatus?) -> Listings<Order> {
        records.list(
            where: status.map { \.status == $0 } ?? .all,
            order: [.by(\.received, .descending), .by(\.id, .descending)])
    }

    func updateOrderStatus(_ id: UUID, to status: OrderStatus) async throws -> WriteReceipt {
        try await update(id) { $0.status = status }
    }

    func read(_ id: UUID) async throws -> Order { try await records.read(id) }

    func create(_ model: Order) async throws -> WriteReceipt { try await records.create(model) }

    func update(_ edited: Order, from shown: Order) async throws -> WriteReceipt {
        try await records.update(edited, from: shown)
    }

    func update(_ id: UUID, _ change: @escaping @Sendable (inout Order) -> Void) async throws -> WriteReceipt {
        try await records.update(id, change)
    }

    func delete(_ id: UUID) async throws -> WriteReceipt { try await records.delete(id) }
}
