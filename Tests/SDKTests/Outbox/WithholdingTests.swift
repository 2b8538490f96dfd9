import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Room 1 has the failing writes, room 2 continues.
@Suite struct WithholdingTests {
    private let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.join(RecordKey.room(1).scope, RecordKey.room(2).scope)
        try bench.write(1, .note(1, in: 1, ["text": "a"]))
        try bench.write(2, .note(2, in: 2, ["text": "b"]))
        try bench.write(3, .note(3, in: 1, ["text": "c"]))
        _ = try push()
        try bench.database.withhold(1, reason: "no answer")
    }

    private func push(after: Int64 = 0) throws -> [(Int64, TransactionID?, Bool)] {
        try bench.database.nextPush(after: after, maxTransactions: 100, maxBytes: 100_000).map { numbered in
            guard case .success(let transaction) = numbered.entry.content else { return (0, nil, false) }
            return (numbered.number, transaction.id, transaction.mutations.isEmpty)
        }
    }

    private func withdrawn() throws {
        try bench.apply(settled: .outcomes([(1, 1, .invalid), (2, 2, nil), (3, 3, .invalid)]))
    }

    @Test func `a withheld write is shown as failed, and only its scope waits`() throws {
        #expect(try push().map { $0.2 } == [true, false, true])
        for (note, state) in [(1, "failed"), (2, "pending"), (3, "failed")] as [(UInt64, String)] {
            #expect(try bench.state(.note(note)) == state)
        }
        #expect(try bench.fields(.note(1))?["text"] == "a")
        try bench.write(4, .note(4, in: 1))
        try bench.write(5, .note(5, in: 2))
        #expect(try push().map { $0.1 } == [1, 2, 3, 5].map { .transaction($0) })
        #expect(try bench.state(.note(4)) == "failed")
    }

    @Test func `once the server refused the withdrawal it is sent again, in order, under its own id`() throws {
        try withdrawn()
        try bench.write(4, .note(4, in: 1))
        try bench.write(5, .note(5, in: 2))
        #expect(try push(after: 3).map { $0.1 } == [.transaction(5)])
        try bench.database.releaseWithheld()
        let sent = try push(after: 3)
        #expect(sent.map { $0.0 } == [4, 5, 6, 7])
        #expect(sent.map { $0.1 } == [5, 1, 3, 4].map { .transaction($0) })
        #expect(sent.allSatisfy { !$0.2 })
        #expect(try bench.state(.note(1)) == "pending")
        try bench.apply(
            from: "c1", to: "c2",
            settled: .outcomes([(4, 5, nil), (5, 1, nil), (6, 3, nil), (7, 4, nil)]))
        #expect(try bench.count(Bench.pending) == 0)
        guard case .committed = try bench.database.step(of: .transaction(1)) else {
            Issue.record("not committed")
            return
        }
    }

    @Test func `nothing behind a withdrawal is released before the server's answer to it`() throws {
        try bench.write(4, .note(4, in: 1))
        try bench.database.releaseWithheld()
        #expect(try push().map { $0.2 } == [true, false, true])
        try withdrawn()
        try bench.database.releaseWithheld()
        #expect(try push(after: 3).map { $0.1 } == [1, 3, 4].map { .transaction($0) })
    }

    @Test func `a write that the app retries is sent after the server's answer to the withdrawal`() throws {
        try bench.database.releaseWithheld(isAsked: true)
        #expect(try push().map { $0.2 } == [true, false, true])
        #expect(try bench.state(.note(1)) == "failed")
        try withdrawn()
        #expect(try push(after: 3).map { $0.1 } == [1, 3].map { .transaction($0) })
        #expect(try bench.state(.note(1)) == "pending")
        // One retry is one attempt.
        try bench.database.withhold(4, reason: "no answer")
        try bench.apply(from: "c1", to: "c2", settled: .outcomes([(4, 1, .invalid), (5, 3, .invalid)]))
        #expect(try push(after: 5).isEmpty)
        #expect(try bench.state(.note(1)) == "failed")
    }

    // MARK: Failure answers

    /// The same device, whose first write was answered with a failure each time.
    private func answered() throws -> Bench {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope, RecordKey.room(2).scope)
        for number in 1...3 as ClosedRange<UInt64> {
            try bench.write(number, .note(number, in: number == 2 ? 2 : 1, ["text": "a"]))
        }
        _ = try bench.database.nextPush(after: 0, maxTransactions: 100, maxBytes: 100_000)
        try bench.database.withhold(1, reason: "no", isAnswered: true)
        return bench
    }

    private func sent(_ bench: Bench, after number: Int64 = 3) throws -> [TransactionID?] {
        try bench.database.nextPush(after: number, maxTransactions: 100, maxBytes: 100_000).map(\.entry.id)
    }

    @Test func `a write that was answered with failures waits for the user, through every new connection`() throws {
        let bench = try answered()
        try bench.apply(settled: .outcomes([(1, 1, .invalid), (2, 2, nil), (3, 3, .invalid)]))
        for _ in 0..<3 {
            _ = try bench.database.beginConnection()
            try bench.database.releaseWithheld()
        }
        #expect(try sent(bench).isEmpty)
        for note in [1, 3] as [UInt64] { #expect(try bench.state(.note(note)) == "failed") }
        // Later writes to the scope wait as well, those elsewhere do not.
        try bench.write(4, .set(.note(1), "text", "b"))
        try bench.write(5, .note(5, in: 2))
        #expect(try sent(bench) == [.transaction(5)])
        try bench.database.releaseWithheld(isAsked: true)
        #expect(try sent(bench) == [5, 1, 3, 4].map { .transaction($0) })
        #expect(try bench.state(.note(1)) == "pending")
    }

    @Test func `a write that arrived after all releases those behind it`() throws {
        let bench = try answered()
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, .invalid)]))
        #expect(try sent(bench) == [.transaction(3)], "without another connection")
    }

    @Test func `a failed write is retried alone, with those before and after it in its scopes`() throws {
        for isWithdrawn in [true, false] {
            let bench = try answered()
            try bench.database.withhold(2, reason: "no", isAnswered: true)
            func settle() throws {
                try bench.apply(settled: .outcomes([(1, 1, .invalid), (2, 2, .invalid), (3, 3, .invalid)]))
            }
            if !isWithdrawn { try settle() }
            try bench.database.change { db in try bench.database.retryWithheld(.transaction(2), db) }
            if isWithdrawn {
                #expect(try sent(bench).isEmpty, "the server has yet to have its word")
                try settle()
            }
            #expect(try sent(bench) == [.transaction(2)])
            for (note, state) in [(1, "failed"), (2, "pending"), (3, "failed")] as [(UInt64, String)] {
                #expect(try bench.state(.note(note)) == state)
            }
            #expect(throws: StoreError.self) {
                try bench.database.change { db in try bench.database.retryWithheld(.transaction(2), db) }
            }
            // It is behind the first one, which is sent before it.
            try bench.database.change { db in try bench.database.retryWithheld(.transaction(3), db) }
            #expect(try sent(bench) == [2, 1, 3].map { .transaction($0) })
        }
    }

    @Test func `writes behind the retried one are sent too, unless they are also behind another one`() throws {
        let bench = try answered()
        try bench.database.withhold(2, reason: "no", isAnswered: true)
        try bench.apply(settled: .outcomes([(1, 1, .invalid), (2, 2, .invalid), (3, 3, .invalid)]))
        try bench.write(4, .note(4, in: 1), .note(5, in: 2))
        try bench.database.change { db in try bench.database.retryWithheld(.transaction(1), db) }
        #expect(try sent(bench) == [1, 3].map { .transaction($0) })
        try bench.database.change { db in try bench.database.retryWithheld(.transaction(4), db) }
        #expect(try sent(bench) == [1, 3, 2, 4].map { .transaction($0) })
    }

    @Test func `a failed write that is given up is deleted, and those behind it continue`() throws {
        let bench = try answered()
        try bench.apply(settled: .outcomes([(1, 1, .invalid), (2, 2, nil), (3, 3, .invalid)]))
        try bench.database.change { db in try bench.database.discardWithheld(.transaction(1), db) }
        #expect(try bench.fields(.note(1)) == nil)
        #expect(try sent(bench) == [.transaction(3)])
        #expect(throws: StoreError.self) {
            try bench.database.change { db in try bench.database.discardWithheld(.transaction(1), db) }
        }
    }

    @Test func `a write given up before the server's answer stays committed if an earlier sending arrived`() throws {
        for arrived in [true, false] {
            let bench = try answered()
            try bench.database.change { db in try bench.database.discardWithheld(.transaction(1), db) }
            #expect(try bench.fields(.note(1)) == nil)
            #expect(try sent(bench, after: 0).first == .transaction(1), "its number is sent, with nothing in it")
            try bench.apply(settled: .outcomes([(1, 1, arrived ? nil : .invalid), (2, 2, nil), (3, 3, .invalid)]))
            #expect(try sent(bench) == [.transaction(3)], "without another connection")
            let step = try bench.database.step(of: .transaction(1))
            if arrived { #expect(step == .committed(seq: 101, time: 7_000)) }
            #expect(try bench.database.parked().isEmpty)
        }
    }

    @Test func `a retry without anything to wait for ends at once`() throws {
        try withdrawn()
        try bench.database.releaseWithheld(isAsked: true)
        #expect(try push(after: 3).map { $0.1 } == [1, 3].map { .transaction($0) })
        try bench.database.withhold(4, reason: "no answer")
        try bench.apply(from: "c1", to: "c2", settled: .outcomes([(4, 1, .invalid), (5, 3, .invalid)]))
        #expect(try push(after: 5).isEmpty)
    }

    @Test func `an earlier sending that arrived after all takes effect once`() throws {
        try bench.apply(settled: .outcomes([(1, 1, nil), (2, 2, nil), (3, 3, .invalid)]))
        guard case .committed = try bench.database.step(of: .transaction(1)) else {
            Issue.record("not committed")
            return
        }
        #expect(try bench.state(.note(3)) == "pending", "it stood behind that alone")
        #expect(try push(after: 3).map { $0.1 } == [.transaction(3)])
    }

    @Test func `a write that the server refused for good is parked with its payload`() throws {
        try bench.apply(settled: .outcomes([(1, 1, .forbidden), (2, 2, nil), (3, 3, .invalid)]))
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(1)])
        #expect(try bench.count(Bench.pending) == 1)
    }

    @Test func `a lost scope parks its waiting writes`() throws {
        try withdrawn()
        try bench.apply(
            from: "c1", to: "c2", grants: [.init(scope: RecordKey.room(1).scope, since: 0, role: nil)])
        #expect(try bench.database.parked().map(\.transaction.id) == [1, 3].map { .transaction($0) })
        #expect(try bench.count(Bench.pending) == 0)
    }

    @Test func `waiting writes stay in front of a withdrawal that was written after them`() throws {
        let bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.write(1, .note(1, in: 1, ["text": "a"]))
        try bench.write(2, .set(.note(1), "text", "b"))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 100, maxBytes: 100_000)
        try bench.database.withhold(1, reason: "no answer")
        try bench.apply(settled: .outcomes([(1, 1, .invalid)]))
        try bench.write(3, .set(.note(1), "done", true))
        #expect(try bench.fields(.note(1))?["text"] == "b")
        try bench.database.fork(newClient: UniqueID(high: 9, low: 9))
        #expect(
            try bench.string("SELECT group_concat(id) FROM (SELECT id FROM \(Bench.pending) ORDER BY n)")
                == [1, 2, 3]
                .map { UniqueID.transaction($0).description }.joined(separator: ","))
    }

    @Test func `a new identity sends withheld writes in their order`() throws {
        try withdrawn()
        try bench.write(4, .note(5, in: 2))
        try bench.database.fork(newClient: UniqueID(high: 9, low: 9))
        #expect(try push().map { $0.1 } == [1, 3, 4].map { .transaction($0) })
        #expect(try bench.state(.note(1)) == "pending")
    }
}
