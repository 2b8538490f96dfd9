import Testing
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// The number up to which the order is safe, and the first lost number: devices keep their writes by these.
@Suite(.timeLimit(.minutes(5))) struct DurabilityTests {
    @Test func `a writer is told once how far the order is safe, and a reader is not`() throws {
        var one = try OneSession(tail: 20)
        one.connect(from: 20, snapshot: 20, durable: 5)
        guard case .welcome(let welcome)? = one.sent.first else {
            Issue.record("no welcome")
            return
        }
        #expect(welcome.durable == 5 && welcome.lost == nil)
        one.call(durable: 5)
        one.commit([OneSession.post(21)], to: 21, settling: OneSession.results(1, at: 21))
        one.call(durable: 9)
        one.commit([OneSession.post(22)], to: 22)
        one.commit([OneSession.post(23)], to: 23, settling: OneSession.results(2, at: 23))
        one.commit([OneSession.post(24)], to: 24, settling: OneSession.results(3, at: 24))
        #expect(one.frames.suffix(4).map(\.durable) == [nil, nil, 9, nil])
    }

    @Test(arguments: [true, false])
    func `once the order has gone back, nothing is called safe by earlier findings`(_ tellsLate: Bool) throws {
        var one = try OneSession(tail: 20)
        if !tellsLate { one.call(durable: 18) }
        one.rewind(to: 10, epoch: 2)
        if tellsLate { one.call(durable: 18, in: 1) }
        one.connect(from: 10, snapshot: 10, durable: 4)
        one.commit([OneSession.post(11)], to: 11, settling: OneSession.results(1, at: 11))
        #expect(one.frames.count == 2 && one.frames.allSatisfy { $0.durable == nil })
    }

    @Test(arguments: [(86_400, 0), (-1, 1)] as [(Int, SequenceNumber)])
    func `a commit is safe once it has the age that the operator set`(_ seconds: Int, _ durable: SequenceNumber)
        async throws
    {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
        }
        // A node keeps its finding for a minute.
        let change: (inout ServerLimits) -> Void = { $0.node.durable = .age(.seconds(seconds)) }
        try await TestServer.running(over: OpenedStore(store), change: change) { server in
            let bob = try await TestClient.greeting(server, as: "bob", 2)
            #expect(try await bob.welcome().durable == durable)
        }
    }

    /// Ann's first commit, and the position of backups.
    private struct Backups: BackupLog {
        var head: Head?

        func verifiedBackup(of workspace: WorkspaceID) async throws(StoreError) -> VerifiedBackup? {
            head.map { VerifiedBackup(head: $0, taken: 1, verified: 2) }
        }

        func lastVerifiedBackup() async throws(StoreError) -> Milliseconds? { head == nil ? nil : 1 }
    }

    @Test(arguments: [(0, 0, 0), (1, 0, 1), (1, 1, 0), (9, 0, 0)] as [(SequenceNumber, UInt64, SequenceNumber)])
    func `a commit is safe once a verified backup of this history has it`(
        _ seq: SequenceNumber, _ otherNonce: UInt64, _ durable: SequenceNumber
    ) async throws {
        let store = InMemoryStore()
        try await TestServer.running(over: OpenedStore(store)) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
        }
        var head = try #require(try await store.batch(holding: 1, in: WorkspaceID("w")))
        (head.seq, head.nonce) = (seq, head.nonce &+ otherNonce)
        var opened = OpenedStore(store)
        opened.backups = Backups(head: seq == 0 ? nil : head)
        try await TestServer.running(over: opened, environment: ["TIDEMARK_DURABLE": "backup"]) { server in
            let bob = try await TestClient.greeting(server, as: "bob", 2)
            #expect(try await bob.welcome().durable == durable)
        }
    }

    @Test func `the standbys' number is told to writers, and their absence to the log`() async throws {
        let (store, log) = (FaultyStore(), LogCapture())
        let change: (inout ServerLimits) -> Void = {
            $0.node.durable = .replicas(1)
            $0.node.standbysEvery = .milliseconds(5)
        }
        try await TestServer.running(over: OpenedStore(store), log: log, change: change) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11))
            #expect(try await ann.settled(through: 1).allSatisfy { $0.durable == nil })
            // Two more, since one may have begun before.
            let looks = store.faults.withLock { $0.looks }
            try await eventually { store.faults.withLock({ $0.looks }) >= looks + 2 }
            #expect(log.lines.contains { $0.contains("Fewer standbys confirm than wanted") })
            store.faults.withLock { $0.confirmed = 10 }
            var told: SequenceNumber?
            var number: Int64 = 1
            while told == nil {
                number += 1
                try await ann.push(from: number, Sample.profile(10 + UInt64(number)))
                told = try await ann.settled(through: number).compactMap(\.durable).last
            }
            #expect(told == 1)
            let bob = try await TestClient.greeting(server, as: "bob", 2)
            #expect(try await bob.welcome().durable == 1)
            #expect(log.lines.contains { $0.contains("As many standbys confirm as wanted") })
        }
    }

    @Test func `a welcome names the first lost number to a client that has seen it, and to no other`() {
        let lineage = [
            EpochStart(epoch: 3, first: 60, baseNonce: 1, time: 1, reason: .head, lost: 80),
            EpochStart(epoch: 2, first: 40, baseNonce: 1, time: 1, reason: .restore, lost: 50),
        ]
        func lost(
            _ seq: SequenceNumber, _ epoch: Epoch, holding found: Head? = nil, horizon: SequenceNumber = 0
        ) -> SequenceNumber? {
            var snapshot = SessionSnapshot(head: Head(seq: 90, nonce: 9, time: 1, epoch: 3), lineage: found)
            snapshot.horizon = horizon
            snapshot.noteLoss(of: Head(seq: seq, nonce: 7, time: 1, epoch: epoch), lineage)
            return snapshot.lost
        }
        #expect(lost(50, 1) == 40)
        #expect(lost(70, 2) == 60)
        #expect(lost(70, 1) == 40)
        #expect(lost(30, 1, horizon: 35) == nil, "forgotten, and not lost")
        #expect(lost(30, 1) == 30, "others wrote before the epoch began")
        #expect(lost(95, 3) == nil)
        let own = Head(seq: 50, nonce: 7, time: 1, epoch: 1)
        #expect(lost(50, 1, holding: own) == nil, "it is of this history")
    }
}
