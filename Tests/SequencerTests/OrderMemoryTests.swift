import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

@Suite struct OrderMemoryTests {
    private let seat = Seat(user: UserID("ann"), scope: ScopeID("a"))
    private let bobs = Seat(user: UserID("bob"), scope: ScopeID("a"))
    private let client = ClientRow(id: Desk.id(1), user: UserID("ann"))
    private let record = RecordKey(collection: "notes", id: Desk.id(9))

    private func head(_ seq: SequenceNumber) -> Head { Head(seq: seq, nonce: 99, time: 1, epoch: 1) }

    /// The stored state at a head: the client and its seat.
    private func state(_ seq: SequenceNumber) -> OrderState {
        var state = OrderState(head: head(seq))
        state.clients[client.id] = StoredClient(row: client)
        state.grants[seat] = Grant(scope: seat.scope, since: 2, role: .member)
        return state
    }

    /// A memory that has read this state at head 5.
    private func memory() -> OrderMemory {
        var memory = OrderMemory()
        #expect(memory.take(Reading(state(5))) == true)
        return memory
    }

    private func batch(_ seq: SequenceNumber, _ memberships: MembershipChange...) -> CommittedBatch {
        CommittedBatch(low: seq, head: head(seq), memberships: memberships)
    }

    private var reads: ReadSet {
        var reads = ReadSet()
        reads.clients = [client.id]
        reads.seats = [seat]
        reads.births = [.init(user: seat.user, record: record)]
        return reads
    }

    @Test func `it has what it has read, with births treated as absent`() throws {
        let memory = memory()
        #expect(memory.holds(reads))
        #expect(memory.base() == state(5))
    }

    @Test func `one unknown thing has to be read, with the births`() {
        for (change, isMissing) in [
            ({ $0.clients.append(Desk.id(2)) }, { $0.clients == [Desk.id(2)] && $0.seats.isEmpty }),
            ({ $0.seats.append(bobs) }, { $0.seats == [bobs] && $0.clients.isEmpty }),
            ({ $0.records.append(record) }, { $0.clients.isEmpty && $0.seats.isEmpty }),
            ({ $0.recordSeats.append(.init(user: seat.user, record: record)) }, { $0.clients.isEmpty }),
        ] as [((inout ReadSet) -> Void, (ReadSet) -> Bool)] {
            var (memory, reads) = (memory(), reads)
            change(&reads)
            #expect(!memory.holds(reads))
            let missing = memory.missing(reads)
            let isAsked = isMissing(missing)
            #expect(isAsked)
            #expect(missing.births.isEmpty && missing.records.contains(record))
        }
        #expect(!OrderMemory().holds(ReadSet()))
    }

    @Test func `a state read at another head is not mixed with remembered ones`() {
        var memory = memory()
        #expect(memory.take(Reading(state(6))) == false)
        memory.forget()
        #expect(memory.take(Reading(state(6))) == true)
        #expect(memory.head == head(6))
    }

    @Test func `a planned batch moves the head, the clients and the members before it is written`() {
        var memory = memory()
        let settled = StoredClient(row: ClientRow(id: client.id, user: client.user, settledThrough: 3))
        memory.planned(
            batch(
                6, MembershipChange(user: bobs.user, scope: bobs.scope, role: .member, seq: 6, since: 6),
                MembershipChange(user: seat.user, scope: seat.scope, role: .admin, seq: 6, since: nil)),
            clients: [settled])
        #expect(memory.head == head(6))
        #expect(memory.client(client.id) == settled)
        #expect(memory.grant(seat) == Grant(scope: seat.scope, since: 2, role: .admin))
        #expect(memory.grant(bobs)?.since == 6)

        var removal = batch(7, MembershipChange(user: seat.user, scope: seat.scope, role: nil, seq: 7, since: nil))
        removal.removals = [client.id]
        memory.planned(removal, clients: [])
        #expect(memory.grant(seat) == nil && memory.client(client.id) == nil)
    }

    @Test func `a role that changes with an unknown beginning is not remembered`() {
        var memory = memory()
        memory.planned(
            batch(6, MembershipChange(user: bobs.user, scope: bobs.scope, role: .admin, seq: 6, since: nil)),
            clients: [])
        #expect(memory.grant(bobs) == nil)
    }

    @Test func `after an error it is not used for eight batches, though it learns`() {
        var memory = memory()
        memory.distrustItself()
        var asked = 0
        for seq: SequenceNumber in 5...20 {
            if !memory.holds(reads) {
                asked += 1
                let missing = memory.missing(reads)
                #expect(missing.clients == [client.id])
                #expect(memory.take(Reading(state(seq))) == true)
            }
            memory.planned(batch(seq + 1), clients: [])
        }
        #expect(asked == 8)
    }
}
