import Testing
import TidemarkModel
import TidemarkStore

@Suite struct OrderMemoryTests {
    private let seat = Seat(user: .ann, scope: .a)
    private let client = ClientRow(id: .numbered(1), user: .ann)

    /// A memory that knows the client and its seat at head 5.
    private func memory() -> OrderMemory {
        var memory = OrderMemory()
        memory.found(
            at: head(5), heard: nil, clients: [StoredClient(row: client)],
            grants: [seat: Grant(scope: .a, since: 2, role: .member)])
        return memory
    }

    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: 99, time: 1, epoch: 1) }

    private var reads: ReadSet {
        var reads = ReadSet()
        reads.clients = [.init(client: client.id, first: 1, last: 1)]
        reads.seats = [seat]
        reads.births = [.init(user: .ann, record: RecordKey(collection: "message", id: .numbered(9)))]
        return reads
    }

    @Test func `a memory that was told to forget while it was out stays forgotten`() {
        let (memories, workspace) = (OrderMemories(), WorkspaceID("w"))
        var loan = memories.take(workspace)
        loan.memory = memory()
        memories.put(loan, workspace)
        let kept = memories.take(workspace)
        #expect(kept.memory.head == head(5))
        #expect(memories.take(workspace).memory.head == nil)
        memories.forget(workspace)
        memories.put(kept, workspace)
        #expect(memories.take(workspace).memory.head == nil)
    }

    @Test func `a guess is remembered as committed before it is`() throws {
        var memory = memory()
        let (found, client) = (reads, client)
        let guess = try memory.guess(found, hasListeners: true) { asked in
            #expect(asked.hasListeners)
            var draft = BatchDraft(after: asked.head)
            draft.settle(client, through: 1)
            return draft.batch
        }
        #expect(guess?.ground == head(5) && guess?.batch.low == 6)
        #expect(guess?.clients.map(\.row.settledThrough) == [1])
        #expect(memory.head == guess?.batch.head)
        #expect(memory.client(client.id)?.row.settledThrough == 1)
    }

    @Test func `no guess comes of a plan without a batch, and the memory stays as it was`() throws {
        var memory = memory()
        #expect(try memory.guess(reads, hasListeners: false) { _ in nil } == nil)
        #expect(memory.head == head(5))
    }

    @Test func `it answers what it knows, with births absent`() throws {
        let found = try #require(memory().answer(reads))
        #expect(found.head == head(5) && found.records.isEmpty)
        #expect(found.clients == [client.id: client])
        #expect(found.grants.keys.map(\.scope) == [.a])
    }

    @Test func `one thing that it does not know leaves the whole question to the store`() {
        let memory = memory()
        for change: (inout ReadSet) -> Void in [
            { $0.clients.append(.init(client: .numbered(2), first: 1, last: 1)) },
            { $0.seats.append(Seat(user: .ann, scope: .b)) },
            { $0.records.append(RecordKey(collection: "message", id: .numbered(8))) },
            { $0.recordSeats.append(.init(user: .ann, record: RecordKey(collection: "message", id: .numbered(8)))) },
        ] {
            var reads = reads
            change(&reads)
            #expect(memory.answer(reads) == nil)
        }
        #expect(OrderMemory().answer(ReadSet()) == nil)
    }

    @Test func `a committed batch moves the head, the clients and the members`() throws {
        var memory = memory()
        var draft = BatchDraft(after: head(5))
        draft.grant(.bob, .a)
        draft.changeRole(.ann, .a, .admin)
        draft.settle(client, through: 1)
        let batch = draft.batch
        let settled = try batch.settlements.map { try StoredClient(row: client).settled(by: $0) }
        memory.committed(batch, clients: settled)
        #expect(memory.head == batch.head)
        #expect(memory.client(client.id)?.kept == batch.settlements[0].results)
        #expect(memory.grant(seat) == Grant(scope: .a, since: 2, role: .admin))
        #expect(memory.grant(Seat(user: .bob, scope: .a))?.since == 6)

        var leave = BatchDraft(after: batch.head)
        leave.revoke(.ann, .a)
        memory.committed(leave.batch, clients: [])
        #expect(memory.grant(seat) == nil)
    }

    @Test func `a role that changes under an unknown beginning is not remembered`() {
        var memory = memory()
        var draft = BatchDraft(after: head(5))
        draft.changeRole(.bob, .b, .admin)
        memory.committed(draft.batch, clients: [])
        #expect(memory.grant(Seat(user: .bob, scope: .b)) == nil)
    }

    @Test func `another head makes it forget what it knew of the old one`() {
        var memory = memory()
        memory.found(at: head(6), heard: nil, clients: [], grants: [:])
        #expect(memory.answer(reads) == nil)
        #expect(memory.client(client.id) == nil && memory.grant(seat) == nil)
    }

    @Test func `after a wrong guess it answers nothing for a while, though it learns`() {
        var memory = memory()
        memory.doubt()
        var answered = 0
        for seq: SequenceNumber in 5...20 {
            memory.found(
                at: head(seq), heard: nil, clients: [StoredClient(row: client)],
                grants: [seat: Grant(scope: .a, since: 2, role: .member)])
            if memory.answer(reads) != nil { answered += 1 }
            memory.committed(
                CommittedBatch(low: seq + 1, head: head(seq + 1)), clients: [StoredClient(row: client)])
        }
        #expect(answered == 8, "of sixteen batches the first eight are looked up")
    }

    @Test func `kept outcomes survive as bytes, and garbage is an error`() throws {
        let kept = [
            ResultRow(client: client.id, number: 4, transaction: .numbered(5), seq: 6, time: 7, rejection: nil),
            ResultRow(
                client: client.id, number: 5, transaction: .numbered(6), seq: 6, time: 7,
                rejection: Rejection(.forbidden, "no \"entry\"")),
        ]
        let stored = StoredClient(row: client, kept: kept)
        #expect(try StoredClient(row: client, keptBytes: stored.keptBytes) == stored)
        for garbage in ["", "{}", "[[1]]", "[[1,\"x\",2,3]]", "[[1,2,3,4,5,6,7]]"] {
            #expect(throws: StoreError.self) { try StoredClient(row: client, keptBytes: Array(garbage.utf8)) }
        }
    }
}
