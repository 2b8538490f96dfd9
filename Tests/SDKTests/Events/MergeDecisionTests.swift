import Foundation
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Events about records that were changed on two sides.
@Suite struct MergeDecisionTests {
    private let bench: Bench

    /// A note that the server knows with number 10, and one local write to its text.
    init() throws {
        bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        _ = try events(.note(1, seq: 10, ["text": "a", "likes": 1]))
        try bench.write(1, .set(.note(1), "text", "mine"))
    }

    private func events(
        from: String = "c0", to: String = "c0", _ changes: Change..., settled: Settled? = nil,
        grants: [Changes.GrantChange] = []
    ) throws -> [SyncLogEvent] {
        var events: [SyncLogEvent] = []
        try bench.database.apply(
            .make(from: from, to: to, changes, settled: settled, grants: grants), now: 9_000,
            noting: { events.append($0) })
        return events
    }

    private func decision(_ fields: [String], _ resolution: MergeDecision.Resolution) -> SyncLogEvent {
        .merged(
            MergeDecision(
                collection: "notes", record: UUID(RecordKey.note(1).id), fields: fields, resolution: resolution))
    }

    @Test func `another field changed elsewhere is kept beside the local write`() throws {
        let events = try events(.note(1, seq: 11, ["text": "a", "likes": 2]))
        #expect(events == [decision(["likes"], .bothKept)])
        #expect(try bench.fields(.note(1))?["text"] == "mine")
        #expect(try bench.fields(.note(1))?["likes"] == .integer(2))
    }

    @Test func `the same field changed elsewhere shows the local value until the server decides`() throws {
        #expect(try events(.note(1, seq: 11, ["text": "theirs"])) == [decision(["text"], .localShown)])
        #expect(try bench.fields(.note(1))?["text"] == "mine")
    }

    @Test func `an own write that returns unchanged is no conflict`() throws {
        let events = try events(.note(1, seq: 11, ["text": "mine", "likes": 1]), settled: .accepted(1, 1))
        #expect(events == [.committed(transactions: 1, LoggedWrites([.set(.note(1), "text", "")]))])
    }

    @Test func `an own write that the server decided differently is reported with its field`() throws {
        let events = try events(.note(1, seq: 12, ["text": "theirs", "likes": 5]), settled: .accepted(1, 1))
        #expect(
            events == [
                .committed(transactions: 1, LoggedWrites([.set(.note(1), "text", "")])),
                decision(["text"], .serverDecided),
            ])
        #expect(try bench.fields(.note(1))?["text"] == "theirs")
    }

    @Test func `a record that was deleted elsewhere loses the local write`() throws {
        #expect(try events(.note(1, seq: 11, deleted: true)) == [decision([], .deleted)])
        #expect(try bench.row(.note(1)) == nil)
    }

    @Test func `a refused write is reported with its code, also when access to its scope ended`() throws {
        #expect(
            try events(settled: .refused(1, 1, .forbidden)) == [
                .rejected(
                    transaction: UUID(.transaction(1)), rejection: Rejection(.forbidden, "because"),
                    LoggedWrites([.set(.note(1), "text", "")]))
            ])
        try bench.write(2, .set(.note(1), "text", "again"))
        let lost = try events(grants: [.init(scope: RecordKey.room(1).scope, since: 20, role: nil)])
        guard case .rejected(_, let rejection, _)? = lost.first else {
            Issue.record("\(lost)")
            return
        }
        #expect(lost.count == 1 && rejection.code == .revoked)
    }

    @Test func `nothing that was not committed is reported`() throws {
        var told = 0
        let frame = Changes.make(from: "c7", to: "c8", [.note(1, seq: 11, ["text": "theirs"])])
        #expect(throws: StoreError.self) {
            try bench.database.apply(frame, now: 0, noting: { _ in told += 1 })
        }
        #expect(told == 0)
    }
}
