import Foundation
import Logging
import Testing
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct AlertTests {
    @Test func `a write that waits too long is reported once, and again after another one has waited`() {
        var watch = OverdueWatch()
        func look(_ oldest: Int64?, at now: Int64) -> SyncLogEvent? {
            watch.look(oldest: oldest, transactions: 3, limit: .seconds(60), now: now)
        }
        #expect(look(nil, at: 0) == nil)
        #expect(look(1_000, at: 61_000) == nil)
        #expect(look(1_000, at: 61_001) == .overdue(transactions: 3, age: .milliseconds(60_001)))
        #expect(look(1_000, at: 200_000) == nil)
        #expect(look(190_000, at: 200_000) == nil)
        #expect(look(190_000, at: 260_000) == .overdue(transactions: 3, age: .seconds(70)))
        #expect(watch.look(oldest: 0, transactions: 1, limit: nil, now: 1_000_000) == nil)
    }

    @Test func `alerts are the events that a developer should look at`() {
        let rejection = Rejection(.forbidden, "no")
        let alerts: [SyncLogEvent] = [
            .overdue(transactions: 1, age: .seconds(1)), .corrupted(reason: "x"),
            .rejected(transaction: UUID(), rejection: rejection, LoggedWrites()),
            .stalled(number: 1, reason: "x", LoggedWrites()),
            .scopesLeftOut(held: 2_000, leftOut: 5),
        ]
        let others: [SyncLogEvent] = [
            .started, .succeeded(duration: .zero), .failed(reason: SyncFailure(.unavailable, "x"), retry: 1), .stopped,
            .evicted(records: 1),
            .forked, .recovered(transactions: 1), .committed(transactions: 1, LoggedWrites()),
        ]
        #expect(alerts.allSatisfy(\.isAlert) && !others.contains(where: \.isAlert))
        #expect(alerts[0].level == .warning && alerts[1].level == .error)
        #expect(alerts[4].level == .warning && alerts[4].details == ["held": "2000", "left_out": "5"])
        #expect(alerts[0].details == ["transactions": "1", "age_ms": "1000"])
    }
}
