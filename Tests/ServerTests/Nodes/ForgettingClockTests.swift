import Testing
import TidemarkModel
import TidemarkStore

@testable import TidemarkNode

/// One clock alone never makes the server forget anything.
@Suite struct ForgettingClockTests {
    private static let (hour, day): (Milliseconds, Milliseconds) = (3_600_000, 86_400_000)
    private static let start: Milliseconds = 1_000 * day

    /// A clock that was read once, on a database that was compacted just before.
    private func clock() -> ForgettingClock {
        var clock = ForgettingClock()
        let look = clock.look(wall: Self.start, ClockWitness(reached: Self.start), uptime: .seconds(60))
        #expect(look.time == Self.start && look.lag == 0 && look.isTrusted && !look.isNews)
        return clock
    }

    @Test func `it follows a clock that runs normally`() {
        var clock = clock()
        for minutes: Milliseconds in stride(from: 1, through: 10_000, by: 7) {
            let wall = Self.start + minutes * 60_000
            let look = clock.look(wall: wall, ClockWitness(reached: Self.start), uptime: .seconds(60 + minutes * 60))
            #expect(look.time == wall && look.isTrusted)
        }
    }

    @Test func `one reading of a clock that is 120 days ahead moves it by less than an hour, and is reported`() {
        var clock = clock()
        let jump = clock.look(
            wall: Self.start + 120 * Self.day, ClockWitness(reached: Self.start), uptime: .seconds(120))
        #expect(jump.time <= Self.start + Self.hour && !jump.isTrusted && jump.isNews)
        let next = clock.look(
            wall: Self.start + 120 * Self.day, ClockWitness(reached: Self.start), uptime: .seconds(180))
        #expect(!next.isTrusted && !next.isNews, "not each minute")
        let back = clock.look(wall: Self.start + 120_000, ClockWitness(reached: Self.start), uptime: .seconds(240))
        #expect(back.time == Self.start + 120_000 && back.isTrusted && back.isNews)
    }

    @Test func `a commit or a compaction by the clock that jumped is no evidence for it`() {
        var clock = clock()
        var reached = Self.start
        for minute: Int64 in 2...200 {
            let look = clock.look(
                wall: Self.start + 120 * Self.day, ClockWitness(reached: reached), uptime: .seconds(minute * 60))
            #expect(!look.isTrusted)
            // The compaction is stored with its time.
            reached = max(reached, look.time)
        }
        #expect(reached <= Self.start + 7 * Self.day)
    }

    @Test(arguments: [1, 8, 24] as [Int64])
    func `a server that was off for 120 days forgets again after days of uptime, restarts included`(hoursADay: Int64) {
        var (reached, wall, up) = (Self.start, Self.start + 120 * Self.day, Int64(0))
        var days = 0
        while days < 1_000 {
            var clock = ForgettingClock()
            var isTrusted = false
            for minute in 1...(hoursADay * 60) {
                let look = clock.look(
                    wall: wall + minute * 60_000, ClockWitness(reached: reached), uptime: .seconds(minute * 60))
                reached = max(reached, look.time)
                (isTrusted, up) = (look.isTrusted, up + 1)
                if isTrusted { break }
            }
            if isTrusted { break }
            (wall, days) = (wall + Self.day, days + 1)
        }
        #expect((60...125).contains(up / 60), "\(up / 60) hours")
    }

    @Test func `a server that is up for an hour a day forgets in time`() {
        var reached = Self.start
        for day: Int64 in 1...50 {
            var clock = ForgettingClock()
            var look = clock.look(
                wall: Self.start + day * Self.day, ClockWitness(reached: reached), uptime: .seconds(60))
            for minute: Int64 in 2...61 {
                look = clock.look(
                    wall: Self.start + day * Self.day + minute * 60_000, ClockWitness(reached: reached),
                    uptime: .seconds(minute * 60))
                reached = max(reached, look.time)
            }
            #expect(look.isTrusted, "day \(day)")
        }
    }

    @Test func `it is never ahead of the database's own clock`() {
        var clock = clock()
        let ahead = ClockWitness(reached: Self.start, clock: Self.start + 60_000)
        for minute: Int64 in 2...100_000 where minute.isMultiple(of: 997) {
            let look = clock.look(wall: Self.start + 120 * Self.day, ahead, uptime: .seconds(minute * 60))
            #expect(look.time == Self.start + 60_000 && !look.isTrusted)
        }
    }

    @Test func `a clock that was behind and is right again is not refused`() {
        var clock = clock()
        let behind = clock.look(wall: 1_000, ClockWitness(reached: Self.start), uptime: .seconds(120))
        #expect(behind.time == 1_000 && behind.isTrusted)
        let right = clock.look(wall: Self.start + 180_000, ClockWitness(reached: Self.start), uptime: .seconds(180))
        #expect(right.time == Self.start + 180_000 && right.isTrusted)
    }

    @Test func `no number traps`() {
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for wall in extremes {
            for reached in extremes.map({ Optional($0) }) + [nil] {
                for database in extremes.map({ Optional($0) }) + [nil] {
                    var clock = ForgettingClock()
                    for uptime in [.zero, .seconds(1), .seconds(Int64.max / 2_000)] as [Duration] {
                        let look = clock.look(
                            wall: wall, ClockWitness(reached: reached, clock: database), uptime: uptime)
                        #expect(look.time <= wall && look.lag >= 0)
                        #expect(ClockWitness(reached: reached, clock: database).bounding(wall) <= wall)
                    }
                }
            }
        }
    }
}
