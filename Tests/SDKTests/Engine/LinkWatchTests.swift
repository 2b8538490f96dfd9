import Testing
import TidemarkModel

@testable import Tidemark

@Suite struct LinkWatchTests {
    private var watch = LinkWatch(timing: EngineTiming())

    /// The decisions up to a time, if the watch is asked whenever it is due.
    private mutating func look(through end: Milliseconds) -> [String] {
        var verdicts: [String] = []
        while watch.due <= end, verdicts.count < 9 {
            let now = watch.due
            let verdict = watch.look(now: now)
            if verdict == .nothing { continue }
            verdicts.append("\(verdict) \(now)")
            if verdict != .probe { break }
        }
        return verdicts
    }

    @Test mutating func `a quiet server is probed after one and a half heartbeats and given up without an answer`() {
        watch.begin(heartbeat: 20_000, now: 0)
        #expect(look(through: 29_999) == [])
        #expect(look(through: 100_000) == ["probe 30000", "silent 40000"])
    }

    @Test mutating func `every received message is a sign of life`() {
        watch.begin(heartbeat: 20_000, now: 0)
        #expect(look(through: 30_000) == ["probe 30000"])
        watch.heard(now: 39_999)
        #expect(look(through: 69_998) == [])
        #expect(look(through: 69_999) == ["probe 69999"])
    }

    @Test mutating func `a client that waits for an answer probes sooner`() {
        watch.begin(heartbeat: 20_000, now: 0)
        watch.owes(0, now: 3_000)
        #expect(look(through: 30_000) == ["probe 10000", "silent 20000"])
    }

    @Test mutating func `an answer that does not come ends a connection that is alive`() {
        watch.begin(heartbeat: 20_000, now: 0)
        watch.owes(0, now: 1_000)
        for second in 1...60 {
            watch.heard(now: Milliseconds(second) * 1_000)
            watch.owes(0, now: Milliseconds(second) * 1_000)
            #expect(watch.look(now: Milliseconds(second) * 1_000) == .nothing)
        }
        watch.heard(now: 60_500)
        #expect(look(through: 61_000) == ["unanswered 61000"])
    }

    @Test mutating func `each step forward gains time, and without an open request there is nothing to wait for`() {
        watch.begin(heartbeat: 20_000, now: 0)
        watch.owes(0, now: 0)
        watch.heard(now: 59_000)
        watch.progressed(now: 59_000)
        watch.heard(now: 118_000)
        #expect(watch.look(now: 118_000) == .nothing)
        watch.owes(nil, now: 118_500)
        watch.heard(now: 119_500)
        #expect(watch.look(now: 119_500) == .nothing)
    }

    @Test mutating func `a slow network gets the time that the sent bytes need`() {
        watch.begin(heartbeat: 20_000, now: 0)
        watch.owes(400_000, now: 0)
        #expect(look(through: 300_000) == ["probe 10000", "silent 120000"])
    }

    @Test mutating func `a late look starts the wait anew`() {
        watch.begin(heartbeat: 20_000, now: 0)
        #expect(watch.look(now: 30_000) == .probe)
        // The device slept for an hour; the answer may wait in the socket.
        #expect(watch.look(now: 3_600_000) == .nothing)
        #expect(look(through: 4_000_000) == ["silent 3610000"])
        watch.begin(heartbeat: 20_000, now: 0)
        watch.owes(0, now: 0)
        watch.heard(now: 70_000)
        #expect(watch.look(now: 70_000) == .nothing)
    }

    @Test mutating func `a server that never gives a sign is left and joined less and less often`() {
        var lives: [Milliseconds] = []
        for _ in 1...6 {
            watch.begin(heartbeat: 20_000, now: 0)
            _ = look(through: 1_000_000)
            lives.append(watch.due)
        }
        #expect(lives == [50_000, 70_000, 110_000, 110_000, 110_000, 110_000])
    }

    @Test(
        arguments: [(0, 7_500), (-5, 7_500), (1_000, 7_500), (25_000, 37_500), (Int64.max, 90_000)] as [(Int64, Int64)])
    mutating func `the server's heartbeat is accepted within bounds`(_ said: Int64, _ due: Int64) {
        watch.begin(heartbeat: said, now: 0)
        #expect(watch.due == due)
    }

    @Test mutating func `a caller that wants to know makes it probe at once, unless something was just received`() {
        watch.begin(heartbeat: 20_000, now: 0)
        let asks = [2_000, 2_001, 2_002].map { watch.ask(now: $0) }
        #expect(asks == [false, true, false] && watch.isAsking)
        watch.heard(now: 2_100)
        #expect(!watch.isAsking)
    }
}
