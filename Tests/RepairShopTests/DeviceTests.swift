import Foundation
import Testing
import Tidemark
import TidemarkRepairShop
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct DeviceTests {
    @Test func `what a client brings in is on every bench, with what each bench noted of it`() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let counter = try await RepairShop.create(
            Shop(name: "Fix it", staff: [UserID("ann"), UserID("bob")]), in: ann.store)
        let bench = RepairShop(counter.id, in: bob.store)
        let client = Client(shop: counter.id, name: "Cem")
        try await counter.clients.create(client)
        let phone = Device(shop: counter.id, client: client.id, brand: "Fruit", model: "X")
        try await counter.devices.create(phone)
        try await kit.settle()
        bob.goOffline()
        try await bench.devices.update(phone.id) { $0.serialNumber = "123-456" }
        try await counter.devices.update(phone.id) { $0.condition = "scratched" }
        bob.goOnline()
        try await kit.settle()
        for shop in [counter, bench] {
            let device = try await shop.devices.read(phone.id)
            #expect(device.clientId == client.id && device.brand == "Fruit" && device.model == "X")
            #expect(device.serialNumber == "123-456" && device.condition == "scratched")
            #expect(device.syncState == .synced && device.serverTime != nil)
        }
        try await bench.devices.delete(phone.id)
        try await kit.settle()
        let error = RepairShopError.notFound(collection: "devices", id: phone.id)
        await #expect(throws: error) { try await counter.devices.read(phone.id) }
        try kit.expectConverged()
    }
}
