import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkTestKit
import TidemarkWire

@testable import TidemarkRepairShop

@Suite(.timeLimit(.minutes(5))) struct ListingTests {
    private struct Broken: Error {}

    @Test func `a list is loading until the shop's records are here`() async throws {
        try await TestServer.running(schema: try RepairShopSchema.schema()) { server in
            let ann = try await Workbench.open("ann")
            for number in 1...5 { _ = try await ann.take("\(number)") }
            try ann.connect(server)
            try await ann.settled()
            let bob = try await Workbench.open("bob", shop: ann.shop.id)
            let seen = Task {
                var seen: [Listing<Order>] = []
                for await listing in bob.shop.orders.list() {
                    seen.append(listing)
                    if listing.records.count == 5, !listing.isLoading { break }
                }
                return seen
            }
            try bob.connect(server)
            let listings = await seen.value
            #expect(listings.first == Listing(isLoading: true))
            #expect(listings.last?.isLoading == false)
            #expect(listings.last?.records.count == 5)
            #expect(listings.allSatisfy { $0.error == nil })
            await ann.disconnect()
            await bob.disconnect()
        }
    }

    @Test func `a list is loading from the first page to the last of its kind`() async throws {
        let bob = try await Workbench.open("bob", shop: UUID())
        let scope = ScopeID(record: bob.shop.id)
        let database = bob.store.database
        _ = try database.beginConnection()
        try database.welcomed(
            Welcome(
                server: "s", epoch: 1, cursorState: .none, cursor: "c0", kept: [], purged: [],
                added: [.init(scope: scope, since: 1, role: .member)], settledThrough: 0, now: 4_000, tokenExpires: 0,
                heartbeat: 0, limits: WireLimits()))
        func page(_ collection: String, _ changes: [Change] = [], next: SequenceNumber? = nil) throws {
            try database.apply(
                PageAnswer(id: 1, scope: scope, since: 1, collection: collection, changes: changes, next: next))
        }
        func order(_ seq: Int64) -> Change {
            let fields: Fields = [
                "shopId": .id(bob.shop.id), "clientId": .id(UUID()), "status": "ready", "received": .integer(seq),
            ]
            return Change(
                key: RecordKey(collection: "orders", id: UniqueID(high: 0xcc, low: UInt64(seq))), scope: scope,
                seq: seq, born: seq, isDeleted: false, author: UserID("ann"), created: seq, updated: seq, fields: fields
            )
        }
        var listings = bob.shop.orders.list().makeAsyncIterator()
        #expect(await listings.next() == Listing(isLoading: true))
        #expect(await listings.next() == Listing(isLoading: true))
        try page("orders", [order(9)], next: 9)
        let partial = await listings.next()
        #expect(partial?.records.count == 1)
        #expect(partial?.isLoading == true)
        try page("orders", [order(8)])
        let whole = await listings.next()
        #expect(whole?.records.count == 2)
        #expect(whole?.isLoading == false)
    }

    @Test func `a list whose oldest records were evicted is not loading`() async throws {
        let kit = try TestKit(schema: try RepairShopSchema.schema())
        let ann = try await kit.client("ann")
        let shop = try await RepairShop.create(Shop(name: "Fix it", staff: [UserID("ann")]), in: ann.store)
        let client = Client(shop: shop.id, lastName: "Cem")
        try await shop.clients.create(client)
        for _ in 1...5 { try await shop.orders.create(Order(shop: shop.id, client: client.id)) }
        try await kit.settle()
        var policy = CachePolicy()
        policy.maxRows = 2
        #expect(try await ann.store.evict(policy) == 3)
        var listings = shop.orders.list().makeAsyncIterator()
        #expect(await listings.next() == Listing(isLoading: true))
        let listing = await listings.next()
        #expect(listing?.records.count == 2 && listing?.isLoading == false)
    }

    @Test func `an error is the last listing and keeps the records read so far`() async throws {
        let order = Order(shop: UUID(), client: UUID())
        let listings = Listings(
            LiveValues {
                AsyncThrowingStream { values in
                    values.yield(Listing(records: [order]))
                    values.finish(throwing: Broken())
                }
            })
        var seen: [Listing<Order>] = []
        for await listing in listings { seen.append(listing) }
        #expect(
            seen == [
                Listing(isLoading: true), Listing(records: [order]), Listing(records: [order], error: "Broken()"),
            ])
    }

    @Test func `a record that cannot be decoded is left out of the list, and named`() async throws {
        let ann = try await Workbench.open("ann")
        let order = try await ann.take("a")
        let other = try await ann.take("b")
        let mutation = Mutation(
            key: RecordKey(collection: "orders", id: UniqueID(order.id)),
            action: .update([NamedPatch("total", .set(.object(["minorUnits": "much"])))]))
        try await ann.store.write { $0.apply(mutation) }
        let list = await ann.shop.orders.list().first { !$0.isLoading }
        #expect(list?.error == nil && list?.records.map(\.id) == [other.id])
        let named = try await ann.store.repository(Order.self).undecodable()
        #expect(named.map(\.id) == [order.id])
        #expect("\(named)".contains("minorUnits"), "the field is named")
    }
}
