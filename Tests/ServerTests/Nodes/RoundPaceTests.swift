import NIOCore
import Testing

@testable import TidemarkNode

/// The beginning of the next round of a loop.
@Suite struct RoundPaceTests {
    private func at(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(0) + .seconds(60) + .milliseconds(milliseconds)
    }

    @Test func `a long round with several batches is followed by a pause of its length`() {
        var pace = RoundPace()
        #expect(pace.pause(at: at(0)) == nil)
        pace.ended(begun: at(0), now: at(4), batches: 2)
        #expect(pace.pause(at: at(4)) == at(8))
        #expect(pace.pause(at: at(7)) == at(8))
        #expect(pace.pause(at: at(8)) == nil)
    }

    @Test func `after one batch, or a short round, the next begins at once`() {
        var pace = RoundPace()
        pace.ended(begun: at(0), now: at(4), batches: 1)
        #expect(pace.pause(at: at(4)) == nil)
        pace.ended(begun: at(10), now: at(10) + .microseconds(999), batches: 9)
        #expect(pace.pause(at: at(11)) == nil)
    }

    @Test func `no pause is longer than ten milliseconds`() {
        var pace = RoundPace()
        pace.ended(begun: at(0), now: at(500), batches: 30)
        #expect(pace.pause(at: at(500)) == at(510))
    }
}
