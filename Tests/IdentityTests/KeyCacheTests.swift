import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// The times of fetches, and the treatment of unknown keys meanwhile.
@Suite struct KeyCacheTests {
    private let hour: Int64 = 3_600_000
    private let set = KeySet.none

    /// A cache whose keys were fetched at 0.
    private func filled(freshFor: Int64? = nil) -> KeyCache {
        var cache = KeyCache()
        #expect(cache.tick(now: 0) == true)
        cache.finished(set, freshFor: freshFor, now: 0)
        return cache
    }

    @Test func `an unknown key is fetched for once, and all tokens meanwhile wait for that`() {
        var cache = filled()
        #expect(cache.ask(.unknownKey("b"), now: 20_000) == .wait(since: 1, starts: true))
        #expect(cache.ask(.unknownKey("b"), now: 20_001) == .wait(since: 2, starts: false))
        #expect(cache.ask(.badSignature, now: 20_002) == .wait(since: 2, starts: false))
        #expect(cache.tick(now: 20_003) == false)
        cache.finished(set, freshFor: nil, now: 20_100)
        #expect(!cache.isFetching)
        #expect(cache.ask(.unknownKey("b"), since: 1, now: 20_100) == .refuse)
    }

    @Test func `fetches begin ten seconds apart at least, and an unknown key waits for the next`() {
        var cache = filled()
        #expect(cache.ask(.unknownKey("b"), now: 4_000) == .wait(since: 1, starts: false))
        #expect(cache.ask(.unknownKey("c"), now: 9_999) == .wait(since: 1, starts: false))
        #expect(cache.tick(now: 9_999) == false)
        #expect(cache.tick(now: 10_000) == true)
        cache.finished(set, freshFor: nil, now: 10_100)
        #expect(cache.ask(.unknownKey("b"), since: 1, now: 10_100) == .refuse)
        #expect(cache.ask(.unknownKey("c"), since: 1, now: 10_100) == .refuse)
        #expect(cache.tick(now: 249_999) == false, "once")
    }

    @Test func `a token that waited is judged by keys fetched since, whatever it lacked before`() {
        var cache = KeyCache()
        #expect(cache.ask(.noKeys, now: 0) == .wait(since: 0, starts: true))
        cache.finished(set, freshFor: nil, now: 50)
        #expect(cache.ask(.unknownKey("b"), since: 0, now: 50) == .refuse)
        #expect(cache.ask(.badSignature, since: 0, now: 15_000) == .refuse)
    }

    @Test func `after the end no token waits`() {
        var cache = filled()
        #expect(cache.ask(.unknownKey("b"), now: 4_000) == .wait(since: 1, starts: false))
        cache.end(now: 5_000)
        #expect(cache.waiters == 0 && cache.keys(now: 5_000) != nil)
        #expect(cache.ask(.unknownKey("b"), since: 1, now: 5_000) == .unavailable(10_000))
        #expect(cache.tick(now: 900_000) == false)
        #expect(cache.ask(.noKeys, now: 900_000) == .unavailable(10_000))
    }

    @Test func `a key that a fetch did not bring is known to be missing for a minute`() {
        var cache = filled()
        #expect(cache.ask(.unknownKey("b"), now: 20_000) == .wait(since: 1, starts: true))
        cache.finished(set, freshFor: nil, now: 20_100)
        #expect(cache.ask(.unknownKey("b"), now: 20_200) == .refuse)
        #expect(cache.ask(.unknownKey("b"), now: 79_999) == .refuse)
        #expect(cache.ask(.unknownKey("b"), now: 80_000) == .wait(since: 2, starts: true))
    }

    @Test
    func
        `who asks while a fetch is under way learns nothing of it: it may have been answered before the key was there`()
    {
        var cache = filled()
        #expect(cache.ask(.unknownKey("b"), now: 20_000) == .wait(since: 1, starts: true))
        #expect(cache.ask(.unknownKey("c"), now: 20_050) == .wait(since: 2, starts: false))
        cache.finished(set, freshFor: nil, now: 20_100)
        #expect(cache.ask(.unknownKey("c"), since: 2, now: 20_100) == .wait(since: 2, starts: false))
        #expect(cache.tick(now: 30_000) == true)
        cache.finished(set, freshFor: nil, now: 30_100)
        #expect(cache.ask(.unknownKey("c"), since: 2, now: 30_100) == .refuse)
    }

    @Test func `a bad signature causes a fetch as well, since a key may be replaced under its name`() {
        var cache = filled()
        #expect(cache.ask(.badSignature, now: 9_999) == .refuse)
        #expect(cache.ask(.badSignature, now: 10_000) == .wait(since: 1, starts: true))
        cache.finished(set, freshFor: nil, now: 10_100)
        #expect(cache.ask(.badSignature, since: 1, now: 10_100) == .refuse)
    }

    @Test func `without any keys no token is refused`() {
        var cache = KeyCache()
        #expect(cache.keys(now: 0) == nil)
        for round in 0..<20 as Range<Int64> {
            let now = round * 10_000
            #expect(cache.ask(.noKeys, now: now) == .wait(since: Int(round), starts: true))
            cache.finished(nil, freshFor: nil, now: now + 50)
            #expect(cache.ask(.noKeys, since: Int(round), now: now + 50) == .unavailable(9_950))
            #expect(cache.ask(.noKeys, now: now + 60) == .unavailable(9_940))
        }
    }

    @Test func `while the endpoint is down good keys are kept for a day and no token is refused for its key`() {
        var cache = filled()
        var now: Int64 = 20_000
        while now < 24 * hour {
            if cache.tick(now: now) { cache.finished(nil, freshFor: nil, now: now) }
            #expect(cache.keys(now: now) != nil)
            now += 60_000
        }
        guard case .wait(let since, true) = cache.ask(.unknownKey("b"), now: 24 * hour - 20_000) else {
            Issue.record("it is not fetched for")
            return
        }
        cache.finished(nil, freshFor: nil, now: 24 * hour - 19_900)
        #expect(cache.ask(.unknownKey("b"), since: since, now: 24 * hour - 19_900) == .unavailable(9_900))
        #expect(cache.ask(.badSignature, since: since, now: 24 * hour - 19_900) == .unavailable(9_900))
        #expect(cache.ask(.unknownKey("c"), now: 24 * hour - 19_900) == .unavailable(9_900), "nor waits in vain")
        #expect(cache.keys(now: 24 * hour - 1) != nil)
        #expect(cache.keys(now: 24 * hour) == nil)
    }

    /// A new token is answered at once: its wait would be longer than a server lets a connection be without a welcome.
    @Test(arguments: [KeyCache.Lack.unknownKey("b"), .unknownKey(nil), .badSignature])
    func `after one failed fetch no token waits in vain, and the next fetch begins ten seconds later`(
        _ lack: KeyCache.Lack
    ) {
        var cache = filled()
        #expect(cache.ask(lack, now: 20_000) == .wait(since: 1, starts: true))
        cache.finished(nil, freshFor: nil, now: 20_100)
        for now in [20_100, 20_101, 25_000, 29_999] as [Int64] {
            #expect(cache.ask(lack, now: now) == .unavailable(30_000 - now), "at \(now)")
            #expect(cache.waiters == 0 && !cache.isFetching)
        }
        #expect(cache.keys(now: 29_999) != nil, "known keys stay")
        #expect(cache.ask(lack, now: 30_000) == .wait(since: 2, starts: true))
        cache.finished(set, freshFor: nil, now: 30_100)
        // A successful fetch ends it: from here on new tokens wait again.
        #expect(cache.ask(.unknownKey("c"), now: 30_200) == .wait(since: 3, starts: false))
    }

    @Test func `an endpoint that is down is tried less and less often, every five minutes at last`() {
        var (cache, tries) = (KeyCache(), [Int64]())
        for second in 0..<1_300 as Range<Int64> where cache.tick(now: second * 1_000) {
            tries.append(second)
            cache.finished(nil, freshFor: nil, now: second * 1_000)
        }
        #expect(tries == [0, 10, 30, 70, 150, 310, 610, 910, 1_210])
    }

    @Test(
        arguments: [
            (nil, 240_000), (0, 48_000), (30_000, 48_000), (600_000, 480_000), (31_536_000_000, 17_280_000),
        ] as [(Int64?, Int64)])
    func `keys are fetched anew before they expire, within bounds`(_ said: Int64?, _ due: Int64) {
        var cache = filled(freshFor: said)
        #expect(cache.tick(now: due - 1) == false)
        #expect(cache.tick(now: due) == true)
    }

    @Test func `a flood of unknown keys fetches once in ten seconds and remembers a bounded number`() {
        var (cache, fetches) = (filled(), 0)
        for number in 0..<12_000 as Range<Int64> {
            let now = 20_000 + number
            if case .wait(_, starts: true) = cache.ask(.unknownKey("k\(number)"), now: now) { fetches += 1 }
            if cache.tick(now: now) { fetches += 1 }
            if cache.isFetching { cache.finished(set, freshFor: nil, now: now) }
        }
        #expect(fetches == 2)
        #expect(cache.unknownCount == 256)
        #expect(cache.keys(now: 32_000) != nil)
    }

    @Test func `a bounded number waits for a fetch`() {
        var cache = KeyCache()
        #expect(cache.ask(.noKeys, now: 0) == .wait(since: 0, starts: true))
        for _ in 1..<4_096 { #expect(cache.ask(.noKeys, now: 1) == .wait(since: 1, starts: false)) }
        #expect(cache.ask(.noKeys, now: 1) == .unavailable(10_000))
    }

    @Test func `a clock that is set back does not prevent fetches`() {
        var cache = KeyCache()
        #expect(cache.tick(now: 1_000 * hour) == true)
        cache.finished(set, freshFor: nil, now: 1_000 * hour)
        #expect(cache.ask(.unknownKey("b"), now: 0) == .wait(since: 1, starts: false))
        #expect(cache.tick(now: 9_999) == false)
        #expect(cache.tick(now: 10_000) == true)
        cache.finished(set, freshFor: nil, now: 10_100)
        #expect(cache.keys(now: 10_100) != nil)
        #expect(cache.keys(now: 10_100 + 24 * hour) == nil)
    }
}
