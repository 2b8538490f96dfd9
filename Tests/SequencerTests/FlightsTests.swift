import Testing
import TidemarkStore

@testable import TidemarkSequencer

@Suite struct FlightsTests {
    private var flights = Flights<String, Int>(aheadMin: 3)
    private let lost = StoreError(.unavailable, "lost")

    /// What to do next, in one word.
    private mutating func next(waiting: Int) -> String {
        switch flights.next(waiting: waiting) {
        case .launchNext(let isAhead): isAhead ? "ahead" : "launch"
        case .relaunch(let number, let load): "relaunch \(number) \(load)"
        case .tell(let load, let written): "tell \(load) \(written)"
        case .takeApart(let load, let error): "apart \(load) \(error.kind)"
        case .wait(let isOpen): isOpen ? "wait" : "wait closed"
        case .rest: "rest"
        }
    }

    /// Launches two batches, of which the second flies ahead.
    private mutating func launchTwo() {
        #expect(next(waiting: 1) == "launch")
        #expect(flights.launched("a", isAhead: false) == 1)
        flights.planned(1)
        #expect(next(waiting: 3) == "ahead")
        #expect(flights.launched("b", isAhead: true) == 2)
        flights.planned(2)
        #expect(next(waiting: 9) == "wait closed")
    }

    @Test mutating func `a batch alone is launched, waited for, told, and then there is rest`() {
        #expect(flights.isEmpty)
        #expect(next(waiting: 1) == "launch")
        #expect(flights.launched("a", isAhead: false) == 1)
        flights.planned(1)
        #expect(next(waiting: 2) == "wait")
        #expect(!flights.isEmpty)
        flights.ended(1, .success(10))
        #expect(next(waiting: 0) == "tell a 10")
        #expect(next(waiting: 0) == "rest")
    }

    @Test mutating func `nothing flies ahead of a batch that is not planned from memory, or not planned again`() {
        #expect(next(waiting: 1) == "launch")
        #expect(flights.launched("a", isAhead: false) == 1)
        #expect(next(waiting: 9) == "wait closed")
        flights.planned(1)
        #expect(next(waiting: 9) == "ahead")
        #expect(flights.launched("b", isAhead: true) == 2)
        flights.planned(2)
        flights.ended(1, .success(10))
        flights.ended(2, .failure(.overtaken))
        #expect(next(waiting: 9) == "relaunch 2 b")
        #expect(next(waiting: 9) == "tell a 10")
        // For the caution that follows, too.
        #expect(next(waiting: 9) == "wait closed")
        flights.planned(7)
        flights.planned(2)
        #expect(next(waiting: 9) == "wait closed")
    }

    @Test mutating func `what waits is launched before what landed is told`() {
        launchTwo()
        flights.ended(1, .success(10))
        #expect(next(waiting: 3) == "ahead")
        #expect(flights.launched("c", isAhead: true) == 3)
        #expect(next(waiting: 9) == "tell a 10")
        #expect(next(waiting: 9) == "wait closed")
    }

    @Test mutating func `batches that end in the wrong order are told in their own`() {
        launchTwo()
        flights.ended(2, .success(20))
        #expect(next(waiting: 0) == "wait closed")
        flights.ended(1, .success(10))
        #expect(next(waiting: 0) == "tell a 10")
        #expect(next(waiting: 0) == "tell b 20")
        #expect(next(waiting: 0) == "rest")
    }

    @Test
    mutating func `a flight ahead that was overtaken goes again once it is first, and none is sent ahead for a while`()
    {
        launchTwo()
        flights.ended(2, .failure(.overtaken))
        #expect(next(waiting: 9) == "wait closed")
        flights.ended(1, .success(10))
        #expect(next(waiting: 9) == "relaunch 2 b")
        #expect(next(waiting: 9) == "tell a 10")
        #expect(next(waiting: 9) == "wait closed")
        flights.ended(2, .success(20))
        for number in 3...10 {
            #expect(next(waiting: 9) == "launch")
            #expect(flights.launched("x", isAhead: false) == number)
            flights.planned(number)
            if number < 10 {
                _ = next(waiting: 9)
                #expect(next(waiting: 9) == "wait closed")
            }
            flights.ended(number, .success(0))
        }
        #expect(next(waiting: 9) == "launch")
        #expect(flights.launched("y", isAhead: false) == 11)
        flights.planned(11)
        #expect(next(waiting: 9) == "ahead")
    }

    @Test mutating func `a batch that failed is taken apart when the one ahead is back, which then goes again`() {
        launchTwo()
        flights.ended(1, .failure(lost))
        #expect(next(waiting: 9) == "wait closed")
        flights.ended(2, .failure(.overtaken))
        #expect(next(waiting: 9) == "apart a unavailable")
        #expect(next(waiting: 9) == "relaunch 2 b")
        flights.ended(2, .failure(lost))
        #expect(next(waiting: 9) == "apart b unavailable")
        #expect(next(waiting: 0) == "rest")
    }

    @Test mutating func `what landed before a failure is told before that is taken apart`() {
        launchTwo()
        flights.ended(1, .success(10))
        #expect(next(waiting: 0) == "tell a 10")
        flights.ended(2, .failure(lost))
        #expect(next(waiting: 0) == "relaunch 2 b")
        flights.ended(2, .failure(lost))
        #expect(next(waiting: 0) == "apart b unavailable")
    }

    @Test mutating func `one that landed behind a batch of which nobody heard is told after that is settled`() {
        launchTwo()
        flights.ended(2, .success(20))
        flights.ended(1, .failure(lost))
        #expect(next(waiting: 0) == "apart a unavailable")
        #expect(next(waiting: 0) == "tell b 20")
        #expect(next(waiting: 0) == "rest")
    }
}
