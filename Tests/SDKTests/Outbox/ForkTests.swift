import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// A new client id: writes that may have taken effect under the old one are not counted twice (PROTOCOL.md, section 6).
@Suite struct ForkTests {
    private let bench: Bench

    /// Two increments, one of them already sent, between writes that are harmless when repeated.
    init() throws {
        bench = try Bench()
        try bench.join(RecordKey.room(1).scope)
        try bench.apply(.note(9, seq: 3, ["likes": 1, "text": "a"]))
        try bench.write(1, .set(.note(9), "text", "b"))
        try bench.write(2, .update(.note(9), [NamedPatch("likes", .increment(10))]))
        _ = try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999)
        try bench.write(3, .note(1), .update(.note(9), [NamedPatch("tags", .add(["x"]))]))
        try bench.write(4, .update(.note(9), [NamedPatch("likes", .increment(100))]), .set(.note(9), "done", true))
    }

    private func sent() throws -> [TransactionID] {
        try bench.database.nextPush(after: 0, maxTransactions: 9, maxBytes: 9_999).map(\.entry.id).compactMap { $0 }
    }

    @Test func `an unknown client sends its unsent writes, and parks those that were on their way`() throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2))
        #expect(try sent() == [1, 3, 4].map { .transaction($0) })
        #expect(try bench.database.parked().map(\.transaction.id) == [.transaction(2)])
        #expect(try bench.fields(.note(9))?["likes"] == 101)
    }

    @Test func `a copied client parks every increment, sent or not`() throws {
        try bench.database.fork(newClient: UniqueID(high: 0xc2, low: 2), isCopy: true)
        #expect(try sent() == [1, 3].map { .transaction($0) })
        #expect(try bench.database.parked().map(\.transaction.id) == [2, 4].map { .transaction($0) })
        #expect(try bench.database.parked().allSatisfy { $0.rejection.code == .conflict })
        #expect(try bench.fields(.note(9))?["likes"] == 1)
        #expect(try bench.fields(.note(9))?["done"] == nil)
    }

    @Test(arguments: [(CloseCode.clientUnknown, false), (.clientForked, true)])
    func `the close code distinguishes the two`(_ code: CloseCode, _ isCopy: Bool) throws {
        var machine = SyncMachine(seed: 1)
        _ = machine.on(.start, now: 0)
        let start = ConnectionStart(
            client: Bench.client, isNewClient: false, connection: 2, cursor: nil, scopes: [], ackedThrough: 0,
            owner: StoreOwner(account: Bench.user, schema: "test"))
        _ = machine.on(.opened(token: "t", start: start), now: 1)
        let effects = machine.on(.closed(code: code.rawValue, reason: "no"), now: 2)
        let forks = effects.compactMap { if case .fork(let isCopy) = $0 { isCopy } else { nil } }
        #expect(forks == [isCopy])
    }
}
