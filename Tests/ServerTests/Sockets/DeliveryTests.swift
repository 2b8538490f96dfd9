import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    /// Pushes a profile, which every user sees, and returns what the others got until then.
    private func frames(
        of clients: [TestClient], until marker: UInt64, by author: TestClient, as number: Int64
    ) async throws -> [[Changes]] {
        try await author.push(from: number, Sample.profile(marker))
        var all: [[Changes]] = []
        for client in clients {
            var frames: [Changes] = []
            while frames.last?.records.contains(where: { $0.key.id == Sample.id(marker) }) != true {
                frames.append(try await client.changes())
            }
            all.append(frames)
        }
        return all
    }

    @Test func `a push reaches its author, the other member, and no other user`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            let eve = try await TestClient.welcomed(server, as: "eve", 3)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            #expect(try await ann.settled(through: 1).last?.grants.map(\.role) == [.owner])
            let told = try await bob.changes()
            #expect(told.grants == [.init(scope: Sample.scope(10), since: 1, role: .member)])

            try await ann.push(from: 2, Sample.message(11, in: 10), Sample.message(12, in: 10))
            let mine = try await ann.settled(through: 3)
            #expect(mine.flatMap(\.records).map(\.key.id) == [Sample.id(11), Sample.id(12)])
            #expect(mine.last?.settled?.outcomes.map(\.rejection) == [nil, nil])
            let hers = try await frames(of: [bob, eve], until: 30, by: ann, as: 4)
            #expect(hers[0].flatMap(\.records).map(\.key.id) == [11, 12, 30].map(Sample.id))
            #expect(hers[1].flatMap(\.records).map(\.key.id) == [Sample.id(30)])
            #expect(hers[1].allSatisfy { $0.grants.isEmpty && $0.settled == nil })
        }
    }

    @Test func `a user who is not a member can neither write nor page`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let eve = try await TestClient.welcomed(server, as: "eve", 2)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann"))
            _ = try await ann.settled(through: 1)
            try await eve.push(from: 1, Sample.message(20, in: 10))
            let outcome = try await eve.settled(through: 1).last?.settled?.outcomes.first
            #expect(outcome?.rejection?.code == .notFound || outcome?.rejection?.code == .forbidden)
            let page = PageRequest(id: 9, scope: Sample.scope(10), since: 1, collection: "messages", limit: 10)
            try await eve.send(.page(page))
            let error = try await eve.error()
            #expect(error.code == .forbidden && error.request == 9)
        }
    }

    @Test func `a removed member gets the removal and nothing after it`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await bob.changes()
            try await ann.push(from: 2, Sample.removal(11, of: "bob", from: 10))
            let removal = try await bob.changes()
            #expect(removal.grants.map(\.role) == [nil] && removal.grants.first?.scope == Sample.scope(10))
            #expect(removal.records.isEmpty)
            try await ann.push(from: 3, Sample.message(12, in: 10))
            let frames = try await frames(of: [bob], until: 30, by: ann, as: 4)[0]
            #expect(frames.flatMap(\.records).map(\.key.id) == [Sample.id(30)])
        }
    }

    @Test func `the same push over two connections and over HTTP takes effect once`() async throws {
        try await TestServer.running { server in
            let first = try await TestClient.welcomed(server, as: "ann", 1)
            try await first.push(from: 1, Sample.profile(10), Sample.profile(11))
            let outcomes = try await first.settled(through: 2).last?.settled?.outcomes
            let second = try await TestClient.greeting(server, as: "ann", 1, isNew: false, counter: 2)
            #expect(try await second.welcome().settledThrough == 2)
            #expect(try await second.changes().settled?.outcomes == outcomes)
            try await second.push(from: 1, Sample.profile(10), Sample.profile(11))
            let push = Push(
                first: 1, ackedThrough: 0, entries: [Sample.profile(10), Sample.profile(11)].map { Push.Entry($0) })
            let call = PushCall(client: second.id, connection: 3, push: push)
            let body = String(decoding: call.encode(), as: UTF8.self)
            let answer = try await server.post("/v1/push", as: "ann", body: body)
            #expect(answer.status == 200)
            #expect(try PushAnswer.decode(answer.body) == PushAnswer(settledThrough: 2, outcomes: outcomes ?? []))
            // The next change follows, without a second effect before it.
            try await second.push(from: 3, Sample.profile(12))
            let frames = try await second.settled(through: 3)
            #expect(frames.flatMap(\.records).map(\.seq) == [3])
        }
    }

    @Test func `a malformed transaction is refused alone`() async throws {
        try await TestServer.running { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.send(
                """
                {"t":"push","first":1,"acked":0,"m":[
                {"id":"\(Sample.id(1))","at":1,"ops":[{"o":"put","c":"users","i":"\(Sample.id(10))","f":{"displayName":"A"}}]},
                {"id":"\(Sample.id(2))","at":1,"ops":[{"o":"put","c":"nowhere","i":"\(Sample.id(11))","f":{}}]},
                {"id":"\(Sample.id(3))","at":1,"ops":[{"o":"put","c":"users","i":"\(Sample.id(12))","f":{"displayName":7}}]},
                7,
                {"id":"\(Sample.id(5))","at":1,"ops":[{"o":"put","c":"users","i":"\(Sample.id(13))","f":{"displayName":"B"}}]}]}
                """)
            let frames = try await ann.settled(through: 5)
            let codes = frames.flatMap { $0.settled?.outcomes ?? [] }.map(\.rejection?.code)
            #expect(codes == [nil, .unknownCollection, .invalid, .invalid, nil])
            #expect(frames.flatMap(\.records).map(\.key.id) == [Sample.id(10), Sample.id(13)])
        }
    }

    @Test func `poison is refused alone and an unavailable store is not noticed`() async throws {
        let store = FaultyStore()
        store.faults.withLock { $0.poison = [Sample.id(12)] }
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            store.faults.withLock { $0.commitsLost = 2 }
            try await ann.push(from: 1, Sample.profile(11), Sample.profile(12), Sample.profile(13))
            let frames = try await ann.settled(through: 3)
            #expect(frames.flatMap(\.records).map(\.key.id) == [Sample.id(11), Sample.id(13)])
            let codes = frames.flatMap { $0.settled?.outcomes ?? [] }.map(\.rejection?.code)
            #expect(codes == [nil, .internalRejected, nil])
        }
    }

    @Test func `a thousand subscribers on two loops each get every change once and in order`() async throws {
        let limits = ["STRANGERS_PER_ADDRESS": "0"]
        try await TestServer.running(limits: limits) { server in
            let author = try await TestClient.welcomed(server, as: "author", 1)
            var clients: [TestClient] = []
            for start in stride(from: UInt64(0), to: 1_000, by: 50) {
                clients += try await withThrowingTaskGroup(of: TestClient.self) { group in
                    for number in start..<start + 50 {
                        group.addTask { try await TestClient.welcomed(server, as: "user\(number)", 100 + number) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            for number in Int64(1)...5 {
                try await author.push(from: number, Sample.profile(5_000 + UInt64(number)))
                _ = try await author.settled(through: number)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for client in clients {
                    group.addTask {
                        var seqs: [SequenceNumber] = []
                        var cursor: String?
                        while seqs.count < 5 {
                            let frame = try await client.changes()
                            #expect(cursor == nil || frame.from == cursor)
                            cursor = frame.cursor
                            seqs += frame.records.map(\.seq)
                        }
                        #expect(seqs == [1, 2, 3, 4, 5])
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
