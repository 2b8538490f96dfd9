import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// The work of a device while nothing happens to it, and when something does.
@Suite struct QuietTests {
    private func connected() -> MachineBench {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.settle(0)
        return bench
    }

    private func frame(_ from: Int, room: UInt64 = 1) -> ServerMessage {
        let change = Change.note(UInt64(from + 1), in: room, seq: Int64(from) + 2)
        return .changes(.make(from: "c\(from)", to: "c\(from + 1)", [change]))
    }

    @Test
    func `an idle device wakes only to probe the server, and looks into its file as seldom`() {
        var bench = connected()
        bench.pass(5_000)
        let (ticks, looks) = (bench.ticks, bench.looks)
        bench.pass(600_000)
        #expect(bench.ticks - ticks <= 600 / 30)
        #expect(bench.looks - looks <= 2 * (bench.ticks - ticks))
    }

    @Test func `a write is looked for at once, and an unannounced one with a later look`() {
        var bench = connected()
        bench.pass(5_000)
        bench.outbox = [1]
        bench.on(.wrote)
        #expect(bench.pushes.map(\.first) == [1])
        bench.settle(1)
        bench.outbox = [1, 2]
        bench.pass(120_000)
        #expect(bench.pushes.map(\.first) == [1, 2])
    }

    @Test func `frames without an outcome of this device cause no look into the outbox`() {
        var bench = connected()
        let looks = bench.looks
        for number in 1...20 { bench.receive(frame(number)) }
        #expect(bench.looks == looks)
        bench.pass(EngineTiming().ackDelay + 1)
        #expect(bench.confirmed == 1 && bench.looks == looks, "nor does the acknowledgement")
        bench.receive(
            .changes(
                .make(from: "c21", to: "c22", [], settled: .refused(1, 1, .invalid))))
        #expect(bench.looks > looks, "what was withheld may be free")
    }

    @Test func `applied frames are acknowledged once the disk has confirmed them`() throws {
        var machine = connected().machine
        let now: Milliseconds = 2_000_000
        _ = machine.on(.arrived([frame(1).encode()]), now: now)
        let effects = machine.on(.tick, now: now + EngineTiming().ackDelay)
        let confirm = try #require(effects.firstIndex { if case .confirm = $0 { true } else { false } })
        let ack = try #require(effects.firstIndex { $0.sends("ack") })
        #expect(confirm < ack)
        #expect(!effects.prefix(confirm).contains { $0.sends("ack") })
    }

    @Test func `a push acknowledges an outcome once the disk has confirmed it`() {
        var machine = connected().machine
        let settled = ServerMessage.changes(.make(from: "c0", to: "c1", [], settled: .accepted(1, 1)))
        #expect(machine.on(.arrived([settled.encode()]), now: 2_000_000).appliedTogether == [1])
        var failing = machine
        #expect(machine.on(.pushLoaded([entry(2)]), now: 2_000_000).known == [0], "it may not have been applied")
        _ = failing.on(.applyFailed(SyncFailure(.databaseFailed, "full")), now: 2_000_000)
        #expect(failing.on(.pushLoaded([entry(2)]), now: 2_000_000).known.isEmpty)
        _ = machine.on(.pushLoaded([]), now: 2_000_000)
        _ = machine.on(.applied, now: 2_000_000)
        let due = machine.on(.tick, now: 2_000_000 + EngineTiming().ackDelay)
        #expect(due.contains { if case .confirm(settled: 1) = $0 { true } else { false } })
        _ = machine.on(.confirmed(settled: 1), now: 2_001_000)
        _ = machine.on(.wrote, now: 2_001_000)
        #expect(machine.on(.pushLoaded([entry(3)]), now: 2_001_000).known == [1])
    }

    @Test func `many outcomes are confirmed at once, so that the server need not keep them`() {
        var machine = connected().machine
        let count = EngineTiming().ackOutcomes
        let few = Settled(through: count - 1, outcomes: []), many = Settled(through: count, outcomes: [])
        let first = ServerMessage.changes(.make(from: "c0", to: "c1", [], settled: few))
        let next = ServerMessage.changes(.make(from: "c1", to: "c2", [], settled: many))
        #expect(!machine.on(.arrived([first.encode()]), now: 2_000_000).contains { $0.sends("ack") })
        #expect(machine.on(.arrived([next.encode()]), now: 2_000_000).contains { $0.sends("ack") })
    }

    @Test func `a number that a welcome calls settled is not acknowledged before its outcomes have arrived`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect(settledThrough: 4)
        var machine = bench.machine
        _ = machine.on(.arrived([frame(1).encode()]), now: 2_000_000)
        let due = machine.on(.tick, now: 2_000_000 + EngineTiming().ackDelay)
        #expect(due.contains { if case .confirm(settled: 0) = $0 { true } else { false } })
    }

    private func entry(_ number: Int64) -> NumberedEntry {
        let transaction = Transaction(
            id: .transaction(UInt64(number)), mutations: [.room(UInt64(number))], clientTime: 0)
        return NumberedEntry(number: number, entry: Push.Entry(transaction), bytes: 10)
    }

    @Test func `frames that arrive together are one step for the disk`() {
        var machine = connected().machine
        let messages = (1...3).map { frame($0).encode() }
        let effects = machine.on(.arrived(messages), now: 2_000_000)
        #expect(effects.appliedTogether == [3])
    }

    @Test func `writes between frames keep their order`() {
        var bench = connected()
        let scope = RecordKey.room(1).scope
        bench.unfilled = [PageRequest(id: 0, scope: scope, since: 1, collection: "notes", limit: 9)]
        bench.on(.wantsPages)
        let page = PageAnswer(id: 1, scope: scope, since: 1, collection: "notes", changes: [], next: nil)
        let messages = [frame(1), frame(2), .page(page), frame(3)].map { $0.encode() }
        let effects = bench.machine.on(.arrived(messages), now: bench.now)
        #expect(effects.appliedTogether == [2, 1])
    }

    @Test func `a round ends once its data is written, and not with a write that fails`() {
        var machine = connected().machine
        func ended(_ effects: [SyncEffect]) -> Bool {
            effects.contains { if case .roundEnded = $0 { true } else { false } }
        }
        var behind = frame(1)
        if case .changes(var changes) = behind {
            changes.isConsistent = false
            behind = .changes(changes)
        }
        _ = machine.on(.arrived([behind.encode()]), now: 1_000_001)
        _ = machine.on(.applied, now: 1_000_001)
        _ = machine.on(.sync(round: 1), now: 1_000_001)
        _ = machine.on(.pushLoaded([]), now: 1_000_001)
        _ = machine.on(.pagesLoaded([]), now: 1_000_001)
        #expect(!ended(machine.on(.arrived([frame(2).encode()]), now: 1_000_002)))
        var failing = machine
        #expect(ended(machine.on(.applied, now: 1_000_002)))
        let failure = failing.on(.applyFailed(SyncFailure(.databaseFailed, "full")), now: 1_000_002)
        #expect(ended(failure), "with the phase that says why")
    }

    @Test func `a timer is set only if none rings before, and there are never more than deadlines`() {
        var alarm = Alarm()
        #expect(alarm.set(30_000, now: 0) == 30_000)
        #expect(alarm.set(31_000, now: 0) == nil)
        #expect(alarm.set(2_000, now: 0) == 2_000)
        alarm.rang()
        #expect(alarm.set(40_000, now: 2_000) == nil, "the first one still rings")
        alarm.rang()
        #expect(alarm.set(40_000, now: 30_000) == 10_000)
        alarm.rang()
        #expect(alarm.set(900_000, now: 40_000) == Alarm.napMax)
    }
}

extension SyncEffect {
    fileprivate func sends(_ kind: String) -> Bool {
        if case .send(let bytes) = self {
            String(decoding: bytes, as: UTF8.self).contains("\"t\":\"\(kind)\"")
        } else {
            false
        }
    }
}

extension [SyncEffect] {
    /// The number of frames in each step.
    fileprivate var appliedTogether: [Int] {
        compactMap { if case .applyChanges(let frames) = $0 { frames.count } else { nil } }
    }

    /// The outcomes that each push acknowledges.
    fileprivate var known: [Int64] {
        compactMap { effect in
            guard case .send(let bytes) = effect, case .push(let push) = try? ClientMessage.decode(bytes) else {
                return nil
            }
            return push.ackedThrough
        }
    }
}
