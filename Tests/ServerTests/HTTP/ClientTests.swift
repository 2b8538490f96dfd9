import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkNode

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    private func register(_ server: TestServer, _ number: UInt64, as user: String = "ann") async throws
        -> NIOHTTPAnswer
    {
        try await server.post("/v1/clients", as: user, body: #"{"client":"\#(Sample.id(number))"}"#)
    }

    private func ids(_ server: TestServer, of user: String = "ann") async throws -> [UniqueID] {
        let answer = try await server.call("GET", "/v1/clients", as: user)
        #expect(answer.status == 200)
        guard case .array(let clients)? = try JSONReader.read(answer.body, { try $0.fields() })["clients"] else {
            return []
        }
        return clients.compactMap { client in
            guard case .object(let fields) = client, case .string(let id)? = fields["client"] else { return nil }
            #expect(fields.entries.map(\.name) == ["client", "lmid", "registered", "seen"])
            return UniqueID(id)
        }
    }

    private func remove(_ server: TestServer, _ client: String, as user: String = "ann") async throws -> Int {
        try await server.call("DELETE", "/v1/clients/\(client)", as: user).status
    }

    @Test func `a user lists and removes their own clients, and no other user's`() async throws {
        try await TestServer.running { server in
            let phone = try await TestClient.welcomed(server, as: "ann", 1)
            let desk = try await TestClient.welcomed(server, as: "ann", 2)
            let bob = try await TestClient.welcomed(server, as: "bob", 3)
            try await phone.push(from: 1, Sample.profile(10))
            _ = try await phone.settled(through: 1)
            #expect(try await ids(server) == [desk.id, phone.id])
            #expect(try await remove(server, "\(bob.id)") == 404)
            #expect(try await remove(server, "\(Sample.id(99))") == 404)
            #expect(try await remove(server, "nobody") == 400)
            #expect(try await server.call("GET", "/v1/clients").status == 401)
            #expect(try await server.call("DELETE", "/v1/clients/\(phone.id)").status == 401)
            #expect(try await remove(server, "\(phone.id)") == 204)
            #expect(try await phone.closeCode() == 4410)
            #expect(try await remove(server, "\(phone.id)") == 404)
            #expect(try await ids(server) == [desk.id])
            let push = Push(first: 2, ackedThrough: 1, entries: [Push.Entry(Sample.profile(11))])
            let call = PushCall(client: phone.id, connection: 9, push: push)
            let refused = try await server.post(
                "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
            #expect(refused.status == 409 && refused.text.contains("client_unknown"))
            let back = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 9)
            #expect(try await back.closeCode() == 4410)
            try await desk.push(from: 1, Sample.profile(12))
            _ = try await desk.settled(through: 1)
            for client in [desk, bob] { await client.leave() }
        }
    }

    @Test func `with too many clients, the least useful one makes room`() async throws {
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.clientUnusedMin = .zero }
        var limits = StoreLimits()
        limits.clientsPerUserMax = 3
        let store = InMemoryStore(MemoryTables(limits: limits))
        try await TestServer.running(over: OpenedStore(store), change: change) { server in
            let live = try await TestClient.welcomed(server, as: "ann", 1)
            let writer = try await TestClient.welcomed(server, as: "ann", 2)
            try await writer.push(from: 1, Sample.profile(10))
            _ = try await writer.settled(through: 1)
            await writer.leave()
            #expect(try await register(server, 3).status == 200)
            #expect(try await register(server, 4).status == 200)
            #expect(try await Set(ids(server)) == [Sample.id(1), Sample.id(2), Sample.id(4)])
            let late = try await TestClient.greeting(server, as: "ann", 3, isNew: false)
            #expect(try await late.closeCode() == 4410)
            let fifth = try await TestClient.welcomed(server, as: "ann", 5)
            #expect(try await Set(ids(server)) == [Sample.id(1), Sample.id(2), Sample.id(5)])
            try await live.push(from: 1, Sample.profile(11))
            _ = try await live.settled(through: 1)
            for client in [live, fifth] { await client.leave() }
        }
    }

    @Test func `recently seen clients stay, and a user with too many of them is refused`() async throws {
        var limits = StoreLimits()
        limits.clientsPerUserMax = 2
        let store = InMemoryStore(MemoryTables(limits: limits))
        try await TestServer.running(over: OpenedStore(store)) { server in
            for number in UInt64(1)...2 { #expect(try await register(server, number).status == 200) }
            let refused = try await register(server, 3)
            #expect(refused.status == 429 && refused.text.contains(#""code":"quota""#))
            let socket = try await TestClient.greeting(server, as: "ann", 3)
            #expect(try await socket.closeCode() == 4429)
            #expect(try await register(server, 4, as: "bob").status == 200)
        }
    }

    @Test func `registering has a rate for each user`() async throws {
        let change: @Sendable (inout ServerLimits) -> Void = { limits in
            (limits.node.registrationsBurst, limits.node.registrationsPerSecond) = (2, 0)
        }
        try await TestServer.running(change: change) { server in
            for number in UInt64(1)...2 { #expect(try await register(server, number).status == 200) }
            let refused = try await register(server, 3)
            #expect(refused.status == 429 && refused.text.contains(#""code":"rate_limited""#))
            #expect(refused.header("retry-after") != nil)
            #expect(try await remove(server, "\(Sample.id(1))") == 429)
            let socket = try await TestClient.greeting(server, as: "ann", 4)
            #expect(try await socket.closeCode() == 4429)
            #expect(try await register(server, 5, as: "bob").status == 200)
            // A registered client uses nothing of the rate.
            let known = try await TestClient.greeting(server, as: "ann", 2, isNew: false)
            _ = try await known.welcome()
            await known.leave()
        }
    }

    @Test func `the last sight of a client is stored now and then, and not each time`() async throws {
        let sightings = Sightings(period: 1_000)
        let one = ConnectionCounts.Client(workspace: WorkspaceID("w"), client: Sample.id(1))
        sightings.note(one, now: 100)
        sightings.note(one, now: 200)
        #expect(sightings.take(now: 300) == [WorkspaceID("w"): [SeenClient(Sample.id(1), at: 200)]])
        sightings.note(one, now: 900)
        #expect(sightings.take(now: 900).isEmpty)
        sightings.note(one, now: 1_100)
        #expect(sightings.take(now: 1_100).count == 1)
        // The clock was set back.
        sightings.note(one, now: 50)
        #expect(sightings.take(now: 50).count == 1)
    }

    @Test func `a device's report about itself is known at once, and stored within a period`() {
        let sightings = Sightings(period: 1_000)
        let one = ConnectionCounts.Client(workspace: WorkspaceID("w"), client: Sample.id(1))
        sightings.note(one, app: "shop 1", written: 4, position: 10, now: 100)
        #expect(sightings.take(now: 100).count == 1)
        sightings.note(one, position: 12, now: 200)
        let known = SeenClient(Sample.id(1), at: 200, app: "shop 1", written: 4, position: 12)
        #expect(sightings.latest(one) == known)
        #expect(sightings.take(now: 900).isEmpty, "not at each sight")
        // It was not seen again: its last report is not forgotten.
        #expect(sightings.take(now: 1_100) == [WorkspaceID("w"): [known]])
        #expect(sightings.take(now: 2_300).isEmpty && sightings.latest(one) == nil)
        sightings.note(one, app: "shop 1", now: 3_000)
        _ = sightings.take(now: 3_000)
        sightings.note(one, app: "shop 2", now: 3_001)
        #expect(sightings.take(now: 3_001).count == 1, "another app at once")
    }

    @Test func `with too many clients their reports are stored the next time, and are not kept in memory`() {
        let sightings = Sightings(period: 1_000, clientsMax: 3)
        func client(_ number: UInt64) -> ConnectionCounts.Client {
            ConnectionCounts.Client(workspace: WorkspaceID("w"), client: Sample.id(number))
        }
        for number in 1...2 as ClosedRange<UInt64> { sightings.note(client(number), written: 1, now: 100) }
        #expect(sightings.take(now: 100)[WorkspaceID("w")]?.count == 2)
        sightings.note(client(1), written: 2, now: 150)
        sightings.note(client(2), written: 2, now: 150)
        // The third: the reports of the two are dropped with it, and all are forgotten.
        sightings.note(client(3), written: 1, now: 200)
        #expect(sightings.take(now: 200)[WorkspaceID("w")]?.map(\.written) == [2, 2, 1])
        #expect((1...3).allSatisfy { sightings.latest(client($0)) == nil })
    }

    @Test func `a connected client is seen, and a client that was removed is closed`() async throws {
        let store = InMemoryStore()
        let change: @Sendable (inout ServerLimits) -> Void = { limits in
            (limits.node.renewEvery, limits.node.sightingEvery) = (.milliseconds(20), .milliseconds(1))
        }
        try await TestServer.running(over: OpenedStore(store), change: change) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let workspace = WorkspaceID("w")
            // Behind the node's back, as if the batch had never reached it.
            let base = try await store.read(ReadSet(), in: workspace).state
            let head = Head(seq: base.head.seq + 1, nonce: 1, time: base.head.time, epoch: base.head.epoch)
            let removal = CommittedBatch(low: head.seq, head: head, removals: [Sample.id(1)])
            #expect(try await store.commit(try PlannedBatch(removal, on: base), in: workspace) != .moved)
            #expect(try await ann.closeCode() == 4410)
        }
    }
}
