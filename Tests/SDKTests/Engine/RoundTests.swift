import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct RoundTests {
    @Test func `a round ends when everything is sent and settled and the copy is current`() {
        var bench = MachineBench()
        bench.outbox = [1, 2]
        bench.on(.start)
        bench.on(.sync(round: 1))
        bench.connect()
        #expect(bench.pushes.map(\.entries.count) == [2])
        bench.settle(1)
        #expect(bench.ended.isEmpty)
        bench.settle(2)
        #expect(bench.ended == [1])
        #expect(bench.phases.last == .live)
    }

    @Test func `a round waits for the pages of a scope that its own write has opened`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.on(.sync(round: 1))
        bench.connect()
        let scope = RecordKey.room(1).scope
        bench.unfilled = [PageRequest(id: 0, scope: scope, since: 5, collection: "rooms", limit: 9)]
        let settled = Settled(through: 1, outcomes: [])
        let grant = Changes.GrantChange(scope: scope, since: 5, role: .owner)
        bench.receive(.changes(.make(from: "c0", to: "c1", [], settled: settled, grants: [grant])))
        #expect(bench.ended.isEmpty)
        bench.unfilled = []
        bench.receive(.page(PageAnswer(id: 1, scope: scope, since: 5, collection: "rooms", changes: [], next: nil)))
        #expect(bench.ended == [1])
        #expect(bench.phases.last == .live)
    }

    @Test func `a second call joins the round, and one after a write waits for that write`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.on(.sync(round: 1))
        bench.on(.sync(round: 2))
        bench.connect()
        bench.settle(0)
        #expect(bench.ended == [2])
        bench.outbox = [1]
        bench.on(.wrote)
        bench.on(.sync(round: 3))
        #expect(bench.ended == [2])
        bench.settle(1)
        #expect(bench.ended == [2, 3])
        #expect(bench.openings.count == 1)
    }

    @Test func `a round ends at once when nothing can be done before the next attempt`() {
        var bench = MachineBench()
        bench.on(.sync(round: 1))
        #expect(bench.ended == [1], "stopped")
        bench.on(.start)
        bench.on(.openFailed(SyncFailure(.unreachable, "no route")))
        guard case .offline(let until, let reason) = bench.phases.last, reason.code == .unreachable else {
            Issue.record("\(bench.phases)")
            return
        }
        #expect(until > bench.now)
        bench.on(.sync(round: 2))
        #expect(bench.openings.count == 2, "asked for, so it does not wait")
        bench.on(.openFailed(SyncFailure(.unreachable, "no route")))
        #expect(bench.ended == [1, 2])
    }

    @Test func `the server's last answer distinguishes an error from an absent server`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect()
        bench.on(.closed(code: 1006, reason: "reset"))
        guard case .offline = bench.phases.last else {
            Issue.record("\(bench.phases)")
            return
        }
        bench.pass(1_000)
        bench.connect()
        bench.on(.closed(code: CloseCode.unavailable.rawValue, reason: "full"))
        guard case .waiting(_, SyncFailure(.unavailable, "full")) = bench.phases.last else {
            Issue.record("\(bench.phases)")
            return
        }
        bench.pass(2_000)
        bench.on(.opened(token: "t", start: MachineBench.start))
        bench.on(.closed(code: CloseCode.workspaceForbidden.rawValue, reason: "gone"))
        #expect(bench.phases.last == .rejected(reason: SyncFailure(.forbidden, "gone")))
        bench.on(.sync(round: 1))
        #expect(bench.openings.count == 4, "asked for by hand, a refusal is asked again")
    }

    @Test func `an absent server is retried for ever, after an eighth of the time so far, at most half a minute`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<80 {
            bench.on(.openFailed(SyncFailure(.unreachable, "no route")))
            bench.pass(30_000)
        }
        let openings = bench.openings
        #expect(openings.count == 81)
        var machine = MachineBench()
        machine.on(.start)
        for _ in 0..<80 {
            machine.on(.openFailed(SyncFailure(.unreachable, "no route")))
            if let wake = machine.wake { machine.pass(wake - machine.now) }
        }
        let waits = zip(machine.openings.dropFirst(), machine.openings).map { $0 - $1 }
        #expect(waits.count == 80)
        var waited: Int64 = 0
        for wait in waits {
            let step = min(30_000, max(1_000, waited / 8))
            #expect(wait >= step / 2 && wait <= step)
            waited += wait
        }
        #expect(waits.suffix(3).allSatisfy { $0 >= 15_000 })
    }

    @Test
    func `a server that fails repeatedly is found as soon as the first time, if it served for a while between`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<30 {
            bench.connect()
            bench.pass(8_000)
            bench.on(.closed(code: 1006, reason: "killed"))
            let end = bench.now + 6_000
            while let wake = bench.wake, wake < end {
                bench.pass(wake - bench.now)
                if bench.machine.link == .opening { bench.on(.openFailed(SyncFailure(.unreachable, "no route"))) }
            }
            let back = bench.wake ?? .max
            #expect(back - end <= 2_000)
            bench.pass(back - bench.now)
            #expect(bench.machine.link == .opening)
        }
    }

    @Test func `a server that ends each connection at once is tried less and less often`() {
        var bench = MachineBench()
        bench.on(.start)
        for _ in 0..<80 {
            bench.connect()
            bench.pass(10)
            bench.on(.closed(code: 1006, reason: "falls over"))
            if let wake = bench.wake { bench.pass(wake - bench.now) }
        }
        let waits = zip(bench.openings.dropFirst(), bench.openings).map { $0 - $1 }
        #expect(waits.suffix(3).allSatisfy { $0 >= 15_000 })
    }

    @Test func `a network that flaps causes no storm of connections and sends nothing twice`() {
        var bench = MachineBench()
        bench.outbox = Array(1...20)
        bench.on(.start)
        var settled: Int64 = 0
        for step in 0..<1_200 {
            bench.on(.network(.changed))
            if bench.machine.link == .opening {
                bench.connect(settledThrough: settled)
                if settled < 20 { #expect(bench.pushes.last?.first == settled + 1) }
                settled = min(20, settled + 1)
                if step % 3 == 0 { bench.settle(settled) }
            } else {
                bench.on(.closed(code: 1006, reason: "flap"))
            }
            bench.pass(50)
        }
        // A minute of flapping every 50 ms.
        #expect(bench.openings.count <= 121)
        #expect(settled == 20)
        for (one, next) in zip(bench.openings, bench.openings.dropFirst()) { #expect(next - one >= 500) }
    }

    @Test func `the app learns that the server limits it, and when the limit ends`() {
        var bench = MachineBench()
        bench.outbox = [1]
        bench.on(.start)
        bench.connect()
        #expect(bench.pushes.count == 1)
        bench.receive(.error(ErrorMessage(.rateLimited, "slow down", retryAfter: 2_500, settledThrough: 0)))
        #expect(bench.pauses == [PushPause(reason: .rateLimited, until: bench.now + 2_500)])
        bench.pass(2_400)
        #expect(bench.pushes.count == 1)
        bench.pass(200)
        #expect(bench.pushes.count == 2)
        #expect(bench.pauses.count == 2 && bench.pauses.last == .some(nil))
    }
}
