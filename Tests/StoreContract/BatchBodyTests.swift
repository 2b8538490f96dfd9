import Testing
import TidemarkModel
import TidemarkStore

@Suite struct BatchBodyTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `a batch decodes to what was encoded`(_ seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let batch = Self.batch(&random)
        let decoded = try BatchBody.decode(BatchBody.encode(batch), low: batch.low, head: batch.head)
        #expect(decoded == batch)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `bytes that were cut or changed never decode to another membership or trap`(_ seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        let batch = Self.batch(&random)
        let bytes = BatchBody.encode(batch)
        let cut = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
        let error = #expect(throws: StoreError.self) { try BatchBody.decode(cut, low: batch.low, head: batch.head) }
        #expect(error?.kind == .invariant)
        var changed = bytes
        for _ in 0..<4 {
            changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        do {
            _ = try BatchBody.decode(changed, low: batch.low, head: batch.head)
        } catch {
            #expect(error.kind == .invariant)
        }
    }

    @Test func `an unknown role is an error and not the end of a membership`() {
        let bytes = Array(#"{"r":[],"m":[["ann","a","emperor",1,1]],"s":[]}"#.utf8)
        #expect(throws: StoreError.self) { try BatchBody.decode(bytes, low: 1, head: .start) }
    }

    private static let names = IsolationTests.hostile

    private static func batch(_ random: inout SplitMix) -> CommittedBatch {
        let low = Int64.random(in: 1...(.max - 1_000), using: &random)
        let time = Int64.random(in: 0...9_000_000_000_000, using: &random)
        let nonce = UInt64.random(in: 0...(.max), using: &random)
        var batch = CommittedBatch(low: low, head: Head(seq: low, nonce: nonce, time: time, epoch: 3))
        func id() -> UniqueID {
            UniqueID(high: .random(in: 0...(.max), using: &random), low: .random(in: 0...(.max), using: &random))
        }
        func name() -> String { names[Int.random(in: 0..<names.count, using: &random)] }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let isDeleted = Bool.random(using: &random)
            let fields = Fields(dictionaryLiteral: ("t", .string(name() + "\u{1}")), ("n", .array([.null, 1.5, true])))
            batch.records.append(
                StoredRecord(
                    key: RecordKey(collection: name(), id: id()), scope: ScopeID(name()), seq: batch.head.seq,
                    born: low, isDeleted: isDeleted, author: UserID(name()), created: time, updated: time,
                    body: isDeleted ? [] : fields.canonicalBytes))
            batch.head.seq += 1
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            batch.memberships.append(
                MembershipChange(
                    user: UserID(name()), scope: ScopeID(name()),
                    role: ([nil] + Role.allCases.map { $0 }).randomElement(using: &random) ?? nil, seq: low,
                    since: Bool.random(using: &random) ? low : nil))
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let client = ClientRow(id: id(), user: UserID(name()), settledThrough: 9, ackedThrough: 4, connection: 2)
            let results = (0..<Int64.random(in: 0...3, using: &random)).map { number in
                TransactionOutcome(
                    number: number, transaction: id(), seq: low, time: time,
                    rejection: RejectionCode.allCases.randomElement(using: &random).flatMap {
                        number.isMultiple(of: 2) ? Rejection($0, name()) : nil
                    })
            }
            batch.settlements.append(Settlement(client: client, results: results))
            if Bool.random(using: &random) { batch.removals.append(id()) }
        }
        batch.forgets = Bool.random(using: &random)
        return batch
    }
}
