import Foundation
import Testing
import Tidemark
import TidemarkRepairShop

/// The models read their fields themselves, with the same result as a decoder.
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
        let read = try await store.repository(Model.self).readAll(order: [.named(.ascending("id"))])
        let decoded = try await store.repository(Decoded<Model>.self).readAll(order: [.named(.ascending("id"))])
        #expect(read.count == models.count)
        #expect(read == decoded.map(\.model))
    }

    @Test func `every model reads as it decodes`() async throws {
        let ann = UserID("ann")
        try await compare(
            Shop(name: "Fix", staff: [ann, UserID("bob")], admins: [ann], currency: "EUR"), Shop(name: "", staff: [ann])
        )
        try await compare(client, Client(shop: UUID(), lastName: "Di"))
        try await compare(order, Order(shop: UUID(), client: UUID(), received: Date(timeIntervalSince1970: 1)))
        try await compare(device, Device(of: order, type: "radio"))
        var ticket = Ticket(
            shop: UUID(), client: UUID(), order: UUID(), subject: "call", status: .waiting, priority: -2,
            opened: Date(timeIntervalSince1970: 3))
        (ticket.assignee, ticket.number) = ("ann", 8)
        (ticket.clientName, ticket.clientEmail) = ("Cy", "c@a.example")
        try await compare(ticket, Ticket(shop: UUID(), subject: "", opened: Date(timeIntervalSince1970: 4)))
        try await compare(
            TicketMessage(
                about: ticket, text: "hi", isInternal: true, sentAt: Date(timeIntervalSince1970: 6)))
    }

    private let amount = Money(minorUnits: 5, currency: "EUR")

    private var client: Client {
        var client = Client(shop: UUID(), firstName: "Cy", lastName: "Cem", phone: "1", email: "c@a.example")
        (client.company, client.address, client.city, client.postcode) = ("Cem & Co", "here", "Town", "1010")
        client.notes = "loud"
        return client
    }

    private var order: Order {
        var order = Order(
            shop: UUID(), client: UUID(), number: 3, status: .inRepair, total: amount, notes: "smoke",
            received: Date(timeIntervalSince1970: 2.125))
        (order.location, order.assignee, order.deposit) = ("shelf", "ann", amount)
        order.promised = Date(timeIntervalSince1970: 5.25)
        return order
    }

    private var device: Device {
        var device = Device(of: order, type: "phone", brand: "A", model: "B", status: .ready, issue: "smoke")
        (device.serialNumber, device.imei, device.passcode) = ("C", "490154203237518", "0000")
        (device.diagnosis, device.resolution, device.price, device.assignee) = ("fire", "water", amount, "bob")
        return device
    }
}
