import Testing
import TidemarkModel
import TidemarkSequencer

@Suite struct `Lane queue` {
    private func submission(_ client: UInt64, _ first: Int64, count: Int = 1) -> Submission {
        Submission(
            client: Desk.id(client), principal: Principal(user: UserID("u")), connection: 1, ackedThrough: 0,
            first: first,
            entries: Array(
                repeating: AdmittedEntry(id: Desk.id(1), ifSeq: nil, steps: .success([])), count: count), bytes: 100)
    }

    private func expect(
        _ queue: inout LaneQueue<Int>, gives tickets: [Int], _ location: SourceLocation = #_sourceLocation
    ) {
        let taken = queue.take().map(\.ticket)
        #expect(taken == tickets, sourceLocation: location)
    }

    private func add(
        _ queue: inout LaneQueue<Int>, _ submission: Submission, ticket: Int, isTaken: Bool = true,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let result = queue.append(submission, ticket: ticket)
        #expect(result == isTaken, sourceLocation: location)
    }

    @Test func `the queue is counted in transactions, and an empty submission is not overlooked`() {
        var queue = LaneQueue<Int>(limits: LaneLimits())
        #expect(queue.waiting == 0)
        add(&queue, submission(1, 1, count: 0), ticket: 1)
        #expect(queue.waiting == 1)
        add(&queue, submission(2, 1, count: 3), ticket: 2)
        #expect(queue.waiting == 3)
        expect(&queue, gives: [1, 2])
        #expect(queue.waiting == 0)
    }

    @Test func `clients take turns, and each keeps its own order`() {
        var limits = LaneLimits()
        limits.batchTransactionsMax = 4
        var queue = LaneQueue<Int>(limits: limits)
        for ticket in 1...4 { add(&queue, submission(1, Int64(ticket)), ticket: ticket) }
        add(&queue, submission(2, 1), ticket: 20)
        add(&queue, submission(3, 1), ticket: 30)
        expect(&queue, gives: [1, 20, 30, 2])
        expect(&queue, gives: [3, 4])
        #expect(queue.isEmpty)
    }

    @Test func `entries that exceeded a batch precede later ones, and a client that was cut has had a turn`() {
        var limits = LaneLimits()
        limits.batchTransactionsMax = 3
        var queue = LaneQueue<Int>(limits: limits)
        for client in 1...3 { add(&queue, submission(UInt64(client), 1, count: 1), ticket: client) }
        add(&queue, submission(1, 2), ticket: 10)
        add(&queue, submission(4, 1), ticket: 4)
        expect(&queue, gives: [1, 2, 3])
        queue.putBack(
            [
                .init(submission(1, 1), ticket: 1), .init(submission(2, 1), ticket: 2),
                .init(submission(3, 1), ticket: 3),
            ], cut: Desk.id(1))
        #expect(queue.waiting == 5)
        expect(&queue, gives: [2, 3, 4])
        expect(&queue, gives: [1, 10])
        #expect(queue.isEmpty && queue.waiting == 0)
    }

    @Test func `no entry of a client overtakes its returned ones`() {
        var queue = LaneQueue<Int>(limits: LaneLimits())
        add(&queue, submission(1, 1), ticket: 1)
        add(&queue, submission(1, 2), ticket: 2)
        expect(&queue, gives: [1, 2])
        add(&queue, submission(1, 3), ticket: 3)
        queue.putBack([.init(submission(1, 1), ticket: 1), .init(submission(1, 2), ticket: 2)])
        expect(&queue, gives: [1, 2, 3])
    }

    @Test func `a batch has a bound of mutations, but takes one submission however many it has`() throws {
        var limits = LaneLimits()
        limits.batchMutationsMax = 3
        var queue = LaneQueue<Int>(limits: limits)
        var desk = Desk()
        try desk.register(1, "ann")
        let card = { (count: Int) in (0..<count).map { Desk.mutation("people", UInt64($0), .create(["name": "x"])) } }
        for (client, count) in [(UInt64(1), 5), (2, 2), (3, 1), (4, 1)] {
            let push = desk.submission(client, "ann", first: 1, [(id: client, mutations: card(count))])
            add(&queue, push, ticket: Int(client))
        }
        expect(&queue, gives: [1])
        expect(&queue, gives: [2, 3])
        expect(&queue, gives: [4])
    }

    @Test func `a waiting client has one turn a round, whatever it adds`() {
        var limits = LaneLimits()
        limits.batchTransactionsMax = 2
        var queue = LaneQueue<Int>(limits: limits)
        for client in 1...3 { add(&queue, submission(UInt64(client), 1), ticket: client) }
        expect(&queue, gives: [1, 2])
        add(&queue, submission(3, 2), ticket: 4)
        add(&queue, submission(1, 2), ticket: 5)
        expect(&queue, gives: [3, 5])
        expect(&queue, gives: [4])
    }

    @Test func `a queue that was emptied at once accepts more of the same clients`() {
        var queue = LaneQueue<Int>(limits: LaneLimits())
        add(&queue, submission(1, 1), ticket: 1)
        add(&queue, submission(2, 1), ticket: 2)
        expect(&queue, gives: [1, 2])
        #expect(queue.isEmpty)
        for ticket in 3...4 { add(&queue, submission(1, Int64(ticket)), ticket: ticket) }
        add(&queue, submission(2, 2), ticket: 5)
        #expect(queue.waiting == 3)
        expect(&queue, gives: [3, 5, 4])
    }

    @Test(arguments: [(2, 500, 5), (9, 250, 5), (9, 500, 2)])
    func `a batch of many clients keeps each bound`(transactions: Int, bytes: Int, clients: Int) {
        var limits = LaneLimits()
        limits.batchTransactionsMax = transactions
        limits.batchBytesMax = bytes
        limits.batchClientsMax = clients
        var queue = LaneQueue<Int>(limits: limits)
        for client in 1...5 { add(&queue, submission(UInt64(client), 1), ticket: client) }
        expect(&queue, gives: [1, 2])
        #expect(queue.waiting == 3)
        expect(&queue, gives: [3, 4])
        expect(&queue, gives: [5])
        #expect(queue.isEmpty)
    }

    @Test func `a busy client leaves room for the others in each batch`() {
        var limits = LaneLimits()
        limits.batchTransactionsMax = 100
        var queue = LaneQueue<Int>(limits: limits)
        for ticket in 0..<10 { add(&queue, submission(1, Int64(ticket), count: 50), ticket: ticket) }
        add(&queue, submission(2, 1, count: 50), ticket: 99)
        expect(&queue, gives: [0, 99])
        expect(&queue, gives: [1, 2])
    }

    @Test func `a submission larger than a batch is taken alone instead of never`() {
        var limits = LaneLimits()
        limits.batchTransactionsMax = 10
        var queue = LaneQueue<Int>(limits: limits)
        add(&queue, submission(1, 1, count: 50), ticket: 1)
        add(&queue, submission(2, 1), ticket: 2)
        expect(&queue, gives: [1])
        expect(&queue, gives: [2])
    }

    @Test func `a full queue refuses and accepts again after a batch`() {
        var limits = LaneLimits()
        limits.queueTransactionsMax = 2
        var queue = LaneQueue<Int>(limits: limits)
        add(&queue, submission(1, 1), ticket: 1)
        add(&queue, submission(1, 2), ticket: 2)
        add(&queue, submission(2, 1), ticket: 3, isTaken: false)
        expect(&queue, gives: [1, 2])
        add(&queue, submission(2, 1), ticket: 3)
    }
}
