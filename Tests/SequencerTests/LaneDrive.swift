import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkSequencer

/// An answer of the store without a request of the machine.
private struct NotAsked: Error {}

/// A lane's machine over tables in memory. The test decides when the store answers, and what.
struct LaneDrive {
    private(set) var desk = Desk()
    private var queue: LaneQueue<String>
    private var machine: LaneMachine<String>
    private var nonce: UInt64 = 0
    private var reads: [Int: ReadSet] = [:]
    private var commits: [Int: PlannedBatch] = [:]
    /// The store's result of each batch, before it is delivered.
    private var taken: [Int: Commitment] = [:]
    /// The outcome that each submitter received.
    private(set) var outcomes: [String: PushOutcome] = [:]
    /// Nonces of the batches that were handed to the store, in their order.
    private(set) var nonces: [UInt64] = []
    /// The number of transactions in each of them.
    private(set) var sizes: [Int] = []

    /// Makes a machine whose second batch goes ahead when three transactions wait.
    init(_ change: (inout LaneLimits) -> Void = { _ in }) throws {
        var limits = LaneLimits()
        limits.aheadTransactionsMin = 3
        change(&limits)
        queue = LaneQueue(limits: limits)
        let sequencer = Sequencer(limits: ModelLimits(), bounds: limits.plan)
        machine = LaneMachine(sequencer: sequencer, limits: limits)
        for client: UInt64 in 1...4 { try desk.register(client, "ann") }
    }

    /// Submits a push of `count` transactions, each of which creates a person.
    mutating func submit(_ name: String, client: UInt64, from first: Int64, count: Int = 1) {
        let ids = (0..<count).map { client * 1_000 + UInt64(first) + UInt64($0) }
        submit(
            name, client: client, from: first,
            ids.map { [Desk.mutation("people", $0, .create(["name": .string(name)]))] })
    }

    /// Submits a push of these transactions.
    mutating func submit(_ name: String, client: UInt64, from first: Int64, _ transactions: [[Mutation]]) {
        let numbered = transactions.enumerated().map { offset, mutations in
            (id: client * 1_000 + UInt64(first) + UInt64(offset), mutations: mutations)
        }
        let isQueued = queue.append(desk.submission(client, "ann", first: first, numbered), ticket: name)
        #expect(isQueued)
    }

    /// The machine's next action, in words. Actions on the queue are carried out.
    mutating func next() -> String {
        while true {
            let (nonce, number) = (nonce, { (nonce: UInt64) in nonce + 1 }(nonce))
            switch machine.next(waiting: queue.waiting, now: 1_000, nonce: { number }) {
            case .take(let isAhead): machine.take(queue.take(), isAhead: isAhead)
            case .putBack(let elements, let cut): queue.putBack(elements, cut: cut)
            case .read(let flight, let reads):
                self.reads[flight] = reads
                return "read \(flight)"
            case .end: return "end"
            case .commit(let flight, let planned):
                self.nonce = nonce + 1
                nonces.append(planned.batch.head.nonce)
                sizes.append(planned.batch.settlements.reduce(0) { $0 + $1.results.count })
                commits[flight] = planned
                return "commit \(flight)\(planned.isAhead ? " ahead" : "")"
            case .deliver(let batch, _, let answers):
                for (ticket, outcome) in answers { outcomes[ticket] = outcome }
                let names = answers.map(\.ticket).joined(separator: " ")
                return "deliver \(batch.map { "\($0.low)" } ?? "nothing")\(names.isEmpty ? "" : " to \(names)")"
            case .pause(let failures): return "pause \(failures)"
            case .note(.refused(_, let remedy, _, _, let number)): return "\(remedy) at \(number)"
            case .note(.gaveUp(_, let tries)): return "gave up after \(tries)"
            case .wait(let isOpen): return isOpen ? "wait open" : "wait"
            case .rest: return "rest"
            }
        }
    }

    /// The submitters whose pushes were not settled.
    var unsettled: [String] { outcomes.filter { !$0.value.isSettled }.keys.sorted() }

    /// The next `count` actions.
    mutating func next(_ count: Int) -> [String] { (0..<count).map { _ in next() } }

    /// The store answers a read, with a lock if it is shared.
    mutating func answerRead(_ flight: Int, under turn: (any Turn)? = nil) throws {
        guard let reads = reads.removeValue(forKey: flight) else { throw NotAsked() }
        machine.read(flight, .success(Reading(desk.tables.read(reads, in: Desk.workspace), turn: turn)))
    }

    mutating func failRead(_ flight: Int, _ error: StoreError) { machine.read(flight, .failure(error)) }

    /// The store writes a batch, if that is based on the stored head, and does not answer yet.
    mutating func takeCommit(_ flight: Int) throws {
        guard let planned = commits.removeValue(forKey: flight) else { throw NotAsked() }
        taken[flight] = try desk.tables.commit(planned, in: Desk.workspace)
    }

    /// The store answers a commit, after writing it if it has not yet.
    mutating func answerCommit(_ flight: Int) throws {
        if taken[flight] == nil { try takeCommit(flight) }
        guard let result = taken.removeValue(forKey: flight) else { throw NotAsked() }
        machine.committed(flight, .success(result))
    }

    /// Whether a batch without an answer creates the record of that number.
    func isCreating(_ flight: Int, _ id: UInt64) -> Bool {
        commits[flight]?.batch.records.contains { $0.key.id == Desk.id(id) } ?? false
    }

    /// The store fails to write a batch.
    mutating func failCommit(_ flight: Int, _ error: StoreError) {
        commits[flight] = nil
        machine.committed(flight, .failure(error))
    }

    /// Writes another node's batch in between.
    mutating func writeElsewhere() throws {
        let head = desk.tables.read(ReadSet(), in: Desk.workspace).head
        let next = Head(seq: head.seq + 1, nonce: head.nonce ^ 0xff00, time: head.time, epoch: head.epoch)
        try desk.tables.write(CommittedBatch(low: next.seq, head: next), in: Desk.workspace)
    }

    mutating func resume(goesOn: Bool = true) { machine.resumed(goesOn: goesOn) }

    /// Settles one push of each of these clients, so that they are remembered; uses up the flights from 1.
    mutating func remember(_ clients: UInt64...) throws {
        for client in clients { submit("first of \(client)", client: client, from: 1) }
        #expect(next() == "read 1")
        try answerRead(1)
        #expect(next() == "commit 1")
        try answerCommit(1)
        #expect(next(2).last == "rest")
    }
}
