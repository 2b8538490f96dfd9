import Foundation
import Testing
import Tidemark
import TidemarkRepairShop

/// The models read their fields themselves; a decoder must give the same.
@Suite struct ReadingTests {
    /// A model as its decoder reads it.
    private struct Decoded<Model: SyncModel & Equatable>: SyncModel {
        static var collection: String { Model.collection }
        let model: Model
        var id: Model.ID { model.id }

        init(from decoder: any Decoder) throws { model = try Model(from: decoder) }

        func encode(to encoder: any Encoder) throws { try model.encode(to: encoder) }
    }

    private func compare<Model: SyncModel & Equatable>(_ models: Model...) async throws {
        let store = try SyncStore.inMemory(account: UserID("ann"), schema: try RepairShopSchema.schema())
        for model in models { try await store.repository(Model.self).create(model) }
        let read = try await store.repository(Model.self).readAll(orderBy: .ascending("id"))
        let decoded = try await store.repository(Decoded<Model>.self).readAll(orderBy: .ascending("id"))
        #expect(read.count == models.count)
        #expect(read == decoded.map(\.model))
    }

    @Test func `every model reads as it decodes`() async throws {
        let ann = UserID("ann")
        try await compare(
            Shop(name: "Fix", staff: [ann, UserID("bob")], admins: [ann], currency: "EUR"), Shop(name: "", staff: [ann])
        )
        var client = Client(shop: UUID(), name: "Cy", phone: "1", email: "c@a.example")
        (client.address, client.notes) = ("here", "loud")
        try await compare(client, Client(shop: UUID(), name: "Di"))
        var device = Device(shop: UUID(), client: UUID(), brand: "A", model: "B")
        (device.serialNumber, device.condition) = ("C", "wet")
        try await compare(device, Device(shop: UUID(), client: UUID()))
        var order = Order(
            shop: UUID(), client: UUID(), device: UUID(), status: .inRepair, problem: "smoke",
            price: Money(minorUnits: 5, currency: "EUR"))
        (order.diagnosis, order.technician) = ("fire", "ann")
        (order.deposit, order.promised) = (Money(minorUnits: 1, currency: "EUR"), Date(timeIntervalSince1970: 5.25))
        order.received = Date(timeIntervalSince1970: 2.125)
        try await compare(
            order, Order(shop: UUID(), client: UUID(), problem: "", received: Date(timeIntervalSince1970: 1)))
        var ticket = Ticket(
            shop: UUID(), client: UUID(), order: UUID(), subject: "call", status: .waiting, priority: -2,
            opened: Date(timeIntervalSince1970: 3))
        ticket.assignee = "ann"
        try await compare(ticket, Ticket(shop: UUID(), subject: "", opened: Date(timeIntervalSince1970: 4)))
        try await compare(TicketMessage(about: ticket, text: "hi", sentAt: Date(timeIntervalSince1970: 6)))
    }
}
