import Logging
import Testing
import TidemarkLock

@testable import TidemarkTelemetry

/// Log lines about refusals, and about a flood of them.
@Suite struct SecurityLogTests {
    @Test func `each kind has twenty lines in a second, and the next line says how many were not written`() {
        var budget = LineBudget<String>()
        let shown = (0..<1_000).count { budget.note("expired", now: 5_000 + Int64($0 % 900)) != nil }
        #expect(shown == 20)
        #expect(budget.note("malformed", now: 5_500) == 0, "another kind has its own")
        #expect(budget.note("expired", now: 6_000) == 980)
        #expect(budget.note("expired", now: 6_000) == 0)
    }

    @Test func `lines that no later one reports are summed up at the end of their second, once`() {
        var budget = LineBudget<String>()
        for _ in 0..<50 { _ = budget.note("expired", now: 5_000) }
        #expect(budget.takeLeftOut(now: 5_999).isEmpty, "the second goes on")
        let taken = budget.takeLeftOut(now: 6_000)
        #expect(taken.map(\.kind) == ["expired"] && taken.map(\.count) == [30])
        #expect(budget.takeLeftOut(now: 6_000).isEmpty)
        #expect(budget.note("expired", now: 6_000) == 0)
    }

    @Test func `kinds beyond those that are distinguished use no memory`() {
        var budget = LineBudget<Int>()
        let shown = (0..<10_000).count { budget.note($0, now: 5_000) != nil }
        #expect(shown == LineBudget<Int>.kindsMax)
    }

    @Test func `a flood is twenty lines and one sum, and all of it is counted`() {
        let log = LogCapture()
        let time = Lock<Int64>(5_000)
        let telemetry = Telemetry(
            now: { time.withLock { $0 } }, clock: ContinuousClock(), logger: Logger(label: "test") { _ in log })
        for _ in 0..<1_000 { telemetry.security.note(.close, "4400", peer: "192.0.2.1") }
        telemetry.security.sumUp()
        #expect(log.lines.count == 20)
        #expect(log.lines.first == "info Closed a connection label=4400 peer=192.0.2.1")
        time.withLock { $0 = 6_000 }
        telemetry.security.sumUp()
        #expect(log.lines.last == "info Lines of the security log were left out event=close label=4400 not_shown=980")
        #expect(log.lines.count == 21)
        #expect(telemetry.registry.text.contains("\ntidemark_security_lines_left_out_total 980\n"))
    }
}
