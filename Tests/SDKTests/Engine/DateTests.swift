import Foundation
import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// Devices whose date is set while they wait.
@Suite(.timeLimit(.minutes(5))) struct DateTests {
    private let clock = HandClock()

    @Test(arguments: [-86_400_000, 86_400_000] as [Int64])
    func `a date that is set by a day moves no attempt`(_ jump: Int64) async throws {
        let server = ScriptedServer()
        let date = Lock<Milliseconds>(1_760_000_000_000)
        var environment = StoreEnvironment.counting()
        environment.now = { date.withLock { $0 } }
        environment.clock = clock
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        server.set(away: true)
        try store.connect(to: "http://test", transport: server) { "t" }
        #expect(try await store.syncNow().activity == .offline)
        guard case .offline(let until, _) = store.currentStatus.connection else {
            Issue.record("\(store.currentStatus.connection)")
            return
        }
        #expect(until > 1_760_000_000_000 && until < 1_760_000_060_000, "what is shown goes by the date")
        date.withLock { $0 += jump }
        server.set(away: false)
        let isLive = Lock(false)
        async let live: Void = {
            for await status in store.status where status.connection == .live { break }
            isLive.withLock { $0 = true }
        }()
        var seconds = 0
        while !isLive.withLock({ $0 }), seconds < 100_000 {
            for _ in 0..<200 { await Task.yield() }
            clock.advance(by: .seconds(1))
            seconds += 1
        }
        await live
        #expect(seconds < 100, "the longest wait is half a minute")
        await store.disconnect()
    }

    @Test func `a token is renewed by the server's time, whatever the device's date is`() {
        var bench = MachineBench()
        bench.on(.start)
        // The machine gets no date, only its running time.
        bench.connect(tokenLife: 300_000, serverAhead: 1_760_000_000_000)
        bench.settle(0)
        bench.pass(239_000)
        #expect(bench.refreshes == 0)
        bench.pass(2_000)
        #expect(bench.refreshes == 1)
    }

    @Test func `uptime follows its clock`() {
        let uptime = Uptime(clock)
        let first = uptime.now
        clock.advance(by: .milliseconds(1_234))
        #expect(uptime.now - first == 1_234)
    }
}
