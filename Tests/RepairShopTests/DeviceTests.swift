import Foundation
import Testing
import Tidemark
import TidemarkRepairShop
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct DeviceTests {
    @Test func `a client's device is on every bench, with each bench's notes about it`() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let bench = RepairShop(counter.id, in: bob.store)
        let client = Client(shop: counter.id, lastName: "Cem")
        try await counter.clients.create(client)
        let order = Order(shop: counter.id, client: client.id)
        try await counter.orders.create(order)
        var phone = Device(of: order, type: "phone", brand: "Fruit", model: "X", issue: "does not start")
        (phone.imei, phone.passcode) = ("490154203237518", "1234")
        try await counter.devices.create(phone)
        try await kit.settle()
        bob.goOffline()
        try await bench.devices.update(phone.id) { device in
            (device.status, device.assignee) = (.ready, "bob")
            (device.diagnosis, device.resolution) = ("battery", "new battery")
        }
        try await counter.devices.update(phone.id) { $0.price = Money(minorUnits: 5_900, currency: "EUR") }
        bob.goOnline()
        try await kit.settle()
        for shop in [counter, bench] {
            let device = try await shop.devices.read(phone.id)
            #expect(device.orderId == order.id && device.type == "phone" && device.brand == "Fruit")
            #expect(device.imei == "490154203237518" && device.passcode == "1234")
            #expect(device.issue == "does not start" && device.diagnosis == "battery")
            #expect(device.resolution == "new battery" && device.status == .ready && device.assignee == "bob")
            #expect(device.price == Money(minorUnits: 5_900, currency: "EUR"))
            #expect(device.syncState == .synced && device.serverTime != nil)
        }
        try await bench.devices.delete(phone.id)
        try await kit.settle()
        let error = RepairShopError.notFound(collection: "devices", id: phone.id)
        await #expect(throws: error) { try await counter.devices.read(phone.id) }
        try kit.expectConverged()
    }
}
