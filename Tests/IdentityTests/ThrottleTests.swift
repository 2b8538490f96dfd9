import Testing
import TidemarkModel

@testable import TidemarkIdentity

/// The rate of calls about accounts.
@Suite struct ThrottleTests {
    private let acme = WorkspaceID("acme")

    @Test func `a burst passes, then one call in its interval, and a refused one uses nothing`() {
        var throttle = Throttle<String>(ThrottleRate(burst: 3, every: 100))
        #expect((0..<3).map { _ in throttle.take("a", now: 1_000) } == [nil, nil, nil])
        #expect(throttle.take("a", now: 1_000) == 100)
        #expect(throttle.take("a", now: 1_040) == 60)
        #expect(throttle.take("b", now: 1_040) == nil, "others are not concerned")
        #expect(throttle.take("a", now: 1_100) == nil)
        #expect(throttle.take("a", now: 1_100) == 100)
        #expect(
            (0..<4).map { _ in throttle.take("a", now: 9_000) } == [nil, nil, nil, 100], "no more than a burst gathers")
    }

    @Test func `a clock that is set back locks no user out`() {
        var throttle = Throttle<String>(ThrottleRate(burst: 2, every: 100))
        _ = throttle.take("a", now: 1_000_000)
        _ = throttle.take("a", now: 1_000_000)
        #expect(throttle.take("a", now: 1_000_000) == 100)
        #expect((0..<3).map { _ in throttle.take("a", now: 0) } == [nil, nil, 100])
    }

    @Test func `it remembers a bounded number, among them all active callers`() {
        var throttle = Throttle<Int>(ThrottleRate(burst: 1, every: 1_000_000), keysMax: 100)
        for number in 0..<10_000 {
            #expect(throttle.take(number, now: 0) == nil)
            #expect(throttle.take(number, now: 0) != nil)
            #expect(throttle.count <= 100)
        }
        #expect(throttle.take(9_960, now: 0) != nil)
        #expect(throttle.take(0, now: 0) == nil, "long ago")
    }

    @Test func `a flood from one address does not lock out the owner at another`() {
        var throttles = AccountThrottles()
        let call = AccountThrottles.Call.password(acme, login: "ann")
        let tries = (0..<1_000).filter { _ in throttles.take(call, from: "192.0.2.1", now: 0) == nil }.count
        #expect(tries == AccountRates().loginByAddressAndAccount.burst)
        #expect(throttles.take(call, from: "192.0.2.2", now: 0) == nil)
        #expect(throttles.take(.password(acme, login: "bob"), from: "192.0.2.1", now: 0) == nil)
    }

    @Test func `a flood from many addresses exhausts the account, as long as it lasts`() {
        var throttles = AccountThrottles()
        let (call, rate) = (AccountThrottles.Call.password(acme, login: "ann"), AccountRates().loginByAccount)
        let tries = (0..<1_000).filter { throttles.take(call, from: "192.0.\($0 / 250).\($0 % 250)", now: 0) == nil }
            .count
        #expect(tries == rate.burst)
        #expect(throttles.take(call, from: "198.51.100.1", now: 0) == rate.every)
        #expect(throttles.take(call, from: "198.51.100.1", now: rate.every) == nil)
        #expect(throttles.take(.password(WorkspaceID("other"), login: "ann"), from: "198.51.100.1", now: 0) == nil)
    }

    @Test func `the addresses of one IPv6 network are counted as one, and so are unknown addresses`() {
        var throttles = AccountThrottles()
        func tries(_ address: (Int) -> String?) -> Int {
            (0..<100).filter { throttles.take(.register, from: address($0), now: 0) == nil }.count
        }
        let burst = AccountRates().register.burst
        #expect(tries { "2001:db8:0:1::\($0)" } == burst)
        #expect(tries { "2001:db8:0:2::\($0)%eth0" } == burst)
        #expect(tries { "::ffff:192.0.2.\($0 % 2)" } == 2 * burst, "those of IPv4 are apart")
        #expect(tries { _ in nil } == burst)
    }

    @Test func `a device that refreshes endlessly is held back, and others at its address are not`() {
        var throttles = AccountThrottles()
        let (ann, phone) = (UserID("ann"), UniqueID(high: 1, low: 1))
        let tries = (0..<100).filter { _ in throttles.take(.refresh(acme, ann, phone), from: "192.0.2.1", now: 0) == nil
        }
        #expect(tries.count == AccountRates().refreshByDevice.burst)
        let tablet = AccountThrottles.Call.refresh(acme, ann, UniqueID(high: 1, low: 2))
        #expect(throttles.take(tablet, from: "192.0.2.1", now: 0) == nil)
    }
}
