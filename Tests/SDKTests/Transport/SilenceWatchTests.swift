import Testing

@testable import Tidemark

@Suite struct SilenceWatchTests {
    private var watch = SilenceWatch(SocketLimits().timing, now: .zero)

    /// The decisions up to a time, if the watch is asked whenever it is due.
    private mutating func look(through end: Int) -> [String] {
        var verdicts: [String] = []
        while watch.due <= .seconds(end), verdicts.count < 9 {
            let now = watch.due
            let verdict = watch.look(now: now)
            if verdict == .nothing { continue }
            verdicts.append("\(verdict) \(now.components.seconds)")
            if verdict == .silent { break }
        }
        return verdicts
    }

    private mutating func verdict(at second: Int) -> SilenceWatch.Verdict { watch.look(now: .seconds(second)) }

    @Test mutating func `a silent server is pinged after 25 seconds and given up after 60`() {
        #expect(look(through: 24) == [])
        #expect(look(through: 100) == ["ask 25", "silent 60"])
    }

    @Test mutating func `an answer, or anything else received, restarts the time`() {
        #expect(look(through: 25) == ["ask 25"])
        watch.heard(now: .seconds(59))
        #expect(look(through: 200) == ["ask 84", "silent 119"])
    }

    @Test mutating func `if the server's own pings arrive none is sent`() {
        let timing = SilenceWatch.Timing(
            pingAfter: nil, silenceMax: .seconds(60), signOfLifeEvery: .seconds(20))
        watch = SilenceWatch(timing, now: .zero)
        #expect(look(through: 100) == ["silent 60"])
    }

    @Test mutating func `while nothing is read this side sends pings, and gives no server up`() {
        watch.heldBack(now: .seconds(10))
        watch.heldBack(now: .seconds(15))
        #expect(look(through: 95) == ["showLife 30", "showLife 50", "showLife 70", "showLife 90"])
        watch.resumed(now: .seconds(95))
        #expect(look(through: 200) == ["ask 120", "silent 155"])
    }

    @Test mutating func `a device that slept through the time pings first, and waits for the answer`() {
        #expect(verdict(at: 600) == .ask)
        #expect(look(through: 634) == [])
        #expect(look(through: 635) == ["silent 635"])
    }

    @Test mutating func `a device that slept after a ping pings again`() {
        #expect(look(through: 25) == ["ask 25"])
        #expect(verdict(at: 600) == .ask)
        #expect(look(through: 700) == ["silent 635"])
    }

    @Test mutating func `a device that slept through the end without pings waits anew`() {
        let timing = SilenceWatch.Timing(
            pingAfter: nil, silenceMax: .seconds(60), signOfLifeEvery: .seconds(20))
        watch = SilenceWatch(timing, now: .zero)
        #expect(verdict(at: 63) == .nothing)
        #expect(look(through: 200) == ["silent 123"])
    }
}
