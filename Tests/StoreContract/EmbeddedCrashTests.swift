import Foundation
import Testing
import TidemarkEmbeddedStore
import TidemarkModel
import TidemarkStore

/// The file and its log as a killed process or a power cut leaves them: from some moment, perhaps torn.
@Suite struct EmbeddedCrashTests {
    private static let batchCount: Int64 = 40

    /// Copies the open file with its log, keeping only `keptBytes` of the log.
    private func copy(_ path: String, to target: TemporaryFile, keptBytes: Int? = nil) throws {
        try FileManager.default.createDirectory(at: target.folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: target.path)
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        try log.prefix(keptBytes ?? log.count).write(to: URL(fileURLWithPath: target.path + "-wal"))
    }

    private func fill(_ under: StoreUnderTest) async throws -> [CommittedBatch] {
        var batches: [CommittedBatch] = []
        for round in 0..<Self.batchCount {
            batches.append(
                try await under.commit { draft in
                    for number: Int64 in 0..<3 { draft.put(.numbered(round * 3 + number)) }
                    draft.put(.numbered(round * 3), born: round * 4 + 1)
                    draft.tamper { $0.records.remove(at: 0) }
                })
        }
        return batches
    }

    @Test func `a copy taken while the store is open has every answered commit`() async throws {
        let source = TemporaryFile()
        let store = try EmbeddedStore(path: source.path)
        let under = StoreUnderTest(store: store)
        let batches = try await fill(under)
        let target = TemporaryFile()
        try copy(source.path, to: target)
        let survivor = try EmbeddedStore(path: target.path)
        let tail = try await survivor.tail(after: 0, limit: 100, in: under.workspace).batches
        #expect(tail.map(\.head) == batches.map(\.head))
        let next = try await StoreUnderTest(store: survivor, workspace: under.workspace).commit { $0.skip() }
        #expect(next.low == (batches.last?.head.seq ?? 0) + 1)
        try survivor.close()
        try store.close()
        try source.remove()
        try target.remove()
    }

    @Test func `a torn log opens at the end of a whole batch`() async throws {
        let source = TemporaryFile()
        let store = try EmbeddedStore(path: source.path)
        let under = StoreUnderTest(store: store)
        let batches = try await fill(under)
        let size = try Data(contentsOf: URL(fileURLWithPath: source.path + "-wal")).count
        var reached = Set<Int>()
        for part in 1...24 {
            let target = TemporaryFile()
            // Prime numbers, so that cuts are inside frames too.
            try copy(source.path, to: target, keptBytes: size * part / 24 - part * 131)
            let survivor = StoreUnderTest(store: try EmbeddedStore(path: target.path), workspace: under.workspace)
            let tail = try await survivor.store.tail(after: 0, limit: 100, in: under.workspace).batches
            #expect(tail.map(\.head) == batches.prefix(tail.count).map(\.head))
            let records = try await survivor.windows([.a], span: 7).flatMap(\.records)
            #expect(records == batches.prefix(tail.count).flatMap(\.records))
            reached.insert(tail.count)
            try target.remove()
        }
        #expect(reached.count > 10, "the cuts must fall at different places")
        try store.close()
        try source.remove()
    }

    /// The ends of all transactions in the log: the last frame of a transaction has the size of the file after it.
    private func commitEnds(of log: Data) -> [Int] {
        func word(_ offset: Int) -> UInt32 { log[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        let frame = 24 + Int(word(8))
        return stride(from: 32, to: log.count - frame + 1, by: frame)
            .filter { word($0 + 4) != 0 && log[$0 + 8..<$0 + 16] == log[16..<24] }.map { $0 + frame }
    }

    @Test func `a log cut after any transaction has a batch and the clients that it settles, or neither`()
        async throws
    {
        let source = TemporaryFile()
        let store = try EmbeddedStore(path: source.path)
        let under = StoreUnderTest(store: store)
        let row = try await under.register(.numbered(50), for: .ann)
        for number in Int64(1)...8 {
            var before = row
            before.settledThrough = number - 1
            let settled = before
            try await under.commit { draft in
                draft.put(.numbered(number))
                draft.settle(settled, through: number)
            }
        }
        var heads: Set<SequenceNumber> = []
        for end in commitEnds(of: try Data(contentsOf: URL(fileURLWithPath: source.path + "-wal"))) {
            let target = TemporaryFile()
            try copy(source.path, to: target, keptBytes: end)
            let survivor = try EmbeddedStore(path: target.path)
            let found = try await survivor.session(for: .ann, client: row.id, in: under.workspace)
            #expect(found.client?.settledThrough ?? 0 == found.head.seq)
            #expect(found.results.map(\.number).max() ?? 0 == found.head.seq)
            heads.insert(found.head.seq)
            try survivor.close()
            try target.remove()
        }
        #expect(heads.isSuperset(of: 1...8), "every batch ended a transaction")
        try store.close()
        try source.remove()
    }
}
