import Testing
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// The outcomes that the server must keep for a client that acknowledges nothing.
@Suite struct `Kept outcomes` {
    /// One character by Swift's count, three hundred thousand bytes in UTF-8.
    private static let name = "e" + String(repeating: "\u{301}", count: 150_000)

    private func refusal(_ desk: inout Desk, _ number: Int64, _ mutation: Mutation) throws -> Rejection? {
        let transaction = (id: UInt64(number), mutations: [mutation])
        let planned = try desk.sequence([desk.submission(1, "ann", first: number, [transaction])])
        guard case .settled(_, let results)? = planned.outcomes.first else { return nil }
        return results.first?.rejection
    }

    @Test func `a refusal is short whatever it names, and still says what is wrong`() throws {
        var desk = Desk()
        try desk.register(1, "ann")
        let cases: [(Mutation, String)] = [
            (Desk.mutation(Self.name, 1, .delete), "no such collection"),
            (Desk.mutation("people", 1, .create([Self.name: 1])), "no such field"),
            (Desk.mutation("people", 2, .create(["name": "x"])), ""),
            (Desk.mutation("people", 2, .update([NamedPatch(Self.name, .set(1))])), "no such field"),
        ]
        for (number, (mutation, reason)) in cases.enumerated() {
            let refused = try refusal(&desk, Int64(number) + 1, mutation)
            guard !reason.isEmpty else { continue }
            let message = try #require(refused?.message)
            #expect(message.utf8.count <= 256 && message.contains(reason), "\(message.utf8.count)")
        }
    }

    @Test
    func `a push is overloaded while too many bytes of outcomes wait, and is accepted afterwards`()
        throws
    {
        var desk = Desk()
        try desk.register(1, "ann")
        let bad = Desk.mutation("people", 1, .create([String(repeating: "\"", count: 4_000): 1]))
        var settled: Int64 = 0
        var last: PushOutcome?
        while settled < 4_096 {
            let transactions = (1...50).map { (id: UInt64(settled + $0), mutations: [bad]) }
            last = try desk.sequence([desk.submission(1, "ann", first: settled + 1, transactions)]).outcomes.first
            guard case .settled(let through, _)? = last else { break }
            settled = through
        }
        #expect(last == .overloaded)
        #expect(settled > 1_000)
        let kept = desk.tables.session(for: UserID("ann"), client: Desk.id(1), in: Desk.workspace)
        let row = try #require(kept.client)
        #expect(StoredClient(row: row, kept: kept.results).keptBytes.count < 600_000)
        // Settled transactions are answered all the same, and acknowledged ones make room.
        let again = desk.submission(1, "ann", first: settled, [(id: UInt64(settled), mutations: [bad])])
        guard case .settled? = try desk.sequence([again]).outcomes.first else {
            Issue.record("a repetition is not answered")
            return
        }
        let next = [(id: UInt64(settled + 1), mutations: [bad])]
        let behind = desk.submission(1, "ann", first: settled + 1, acked: settled, next)
        guard case .settled(let through, _)? = try desk.sequence([behind]).outcomes.first else {
            Issue.record("it does not go on")
            return
        }
        #expect(through == settled + 1)
    }
}
