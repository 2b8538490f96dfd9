import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct TokenTests {
    @Test func `a token is renewed before its end while traffic continues`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect(tokenLife: 300_000)
        bench.settle(0)
        bench.pass(239_000)
        #expect(bench.refreshes == 0)
        bench.pass(1_500)
        #expect(bench.refreshes == 1)
        bench.outbox = [1]
        bench.on(.wrote)
        #expect(bench.pushes.count == 1, "pushing does not wait for the token")
        bench.on(.tokenRefreshed("u"))
        #expect(bench.sent.contains(.auth(Auth(token: "u"))))
        #expect(bench.openings.count == 1)
    }

    @Test(arguments: [-7_200_000, 7_200_000] as [Int64])
    func `a server with another clock causes no renewal that is too early or too late`(_ ahead: Int64) {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect(tokenLife: 300_000, serverAhead: ahead)
        bench.settle(0)
        bench.pass(241_000)
        #expect(bench.refreshes == 1)
        bench.on(.tokenRefreshed("u"))
        bench.receive(.authOK(AuthOK(expires: bench.now + ahead + 300_000)))
        bench.pass(238_000)
        #expect(bench.refreshes == 1)
        bench.pass(3_000)
        #expect(bench.refreshes == 2)
    }

    @Test func `without a new token it is requested again soon`() {
        var bench = MachineBench()
        bench.on(.start)
        bench.connect(tokenLife: 300_000)
        bench.settle(0)
        bench.pass(241_000)
        bench.on(.tokenFailed("no network"))
        bench.pass(30_000)
        #expect(bench.refreshes == 2)
    }

    @Test func `a missing token does not stop the machine from trying again`() {
        var bench = MachineBench()
        bench.on(.start)
        #expect(bench.openings.count == 1)
        bench.pass(59_000)
        #expect(bench.openings.count == 1)
        bench.pass(5_000)
        #expect(bench.openings.count == 2)
        guard case .offline = bench.phases.last ?? .stopped else {
            #expect(bench.phases.last == .connecting)
            return
        }
    }
}
