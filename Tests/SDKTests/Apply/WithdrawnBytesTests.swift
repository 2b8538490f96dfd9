import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// No byte of a withdrawn scope stays on the device, neither in the file nor in its log, for anyone who reads the disk.
@Suite(.timeLimit(.minutes(5))) struct WithdrawnBytesTests {
    private static let secret = "wombatology"
    private static let other = "platypus"
    private let folder: TemporaryFolder
    private let lost = RecordKey.room(1).scope

    init() throws { folder = try TemporaryFolder() }

    private func bench() throws -> Bench {
        var limits = LocalLimits()
        limits.searchRest = .seconds(3_600)
        // Nothing but `fill` copies the log.
        limits.logCopiedAt = 1 << 40...1 << 40
        let text = TestSchema.text.replacing(
            #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#)
        return Bench(
            database: try LocalDatabase.open(
                path: folder.path("x.sqlite"), account: Bench.user, schema: try TestSchema.schema(text),
                newClient: Bench.client, limits: limits))
    }

    /// Files that hold a text.
    private func files(with text: String) throws -> [String] {
        let folder = URL(fileURLWithPath: folder.path("x.sqlite")).deletingLastPathComponent()
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            try Data(contentsOf: folder.appendingPathComponent(name)).range(of: Data(text.utf8)) != nil
        }.sorted()
    }

    /// Writes some thousand notes of both rooms in turns, changed and deleted, and found by a search.
    private func fill(_ bench: Bench) async throws {
        try bench.join(lost, RecordKey.room(2).scope)
        var (seq, cursor): (Int64, Int64) = (10, 0)
        func apply(_ changes: [Change]) throws {
            try bench.database.apply(.make(from: "c\(cursor)", to: "c\(cursor + 1)", changes), now: 9_000)
            cursor += 1
        }
        for part in 0..<10 {
            var changes: [Change] = []
            for number in 0..<100 {
                seq += 1
                let (id, room) = (UInt64(part * 100 + number), UInt64(number % 2 + 1))
                let word = room == 1 ? Self.secret : Self.other
                let text = Array(repeating: "\(word) \(id)", count: number % 7 + 1).joined(separator: " ")
                changes.append(.note(id, in: room, seq: seq, ["text": .string(text)]))
            }
            try apply(changes)
            #expect(try await bench.found(Self.secret, in: "notes") == (part + 1) * 50)
        }
        try await bench.database.writer.writeWithoutTransaction { db in _ = try db.checkpoint(.passive) }
        for id in stride(from: UInt64(0), to: 1_000, by: 14) {
            seq += 1
            let text = FieldValue.string(String(repeating: Self.secret + " ", count: Int(id % 300)))
            try apply([.note(id, seq: seq, born: 11 + Int64(id), deleted: id % 4 == 0, ["text": text])])
        }
        #expect(try files(with: Self.secret).count == 2, "the file and its log")
    }

    @Test func `a lost scope leaves nothing in the file, the index and the log`() async throws {
        let bench = try bench()
        try await fill(bench)
        let cursor = try bench.string("SELECT value FROM tidemark_meta WHERE key = 'cursor'") ?? ""
        try bench.apply(
            from: cursor, to: "end", grants: [.init(scope: lost, since: 9_000, role: nil)])
        try expect(files(with: Self.secret), [])
        try expect(files(with: Self.other), ["x.sqlite"])
        #expect(try await bench.found(Self.other, in: "notes") == 500)
        #expect(try await bench.found(Self.secret, in: "notes") == 0)
        try bench.database.close()
        try expect(files(with: Self.secret), [])
    }

    @Test func `what SQLite moved between pages goes with the cache's next round`() throws {
        let bench = try bench()
        try bench.join(lost, RecordKey.room(2).scope)
        var outcomes: [(number: Int64, id: UInt64, refused: RejectionCode?)] = []
        for number in 1...120 as ClosedRange<UInt64> {
            let text = String(repeating: Self.secret + " ", count: Int(number * 7 % 9) + 1)
            try bench.write(number, .note(number, in: number % 3 == 0 ? 2 : 1, ["text": .string(text)]))
            outcomes.append((Int64(number), number, nil))
        }
        _ = try bench.database.nextPush(after: 0, maxTransactions: 200, maxBytes: 1 << 20)
        for part in 0..<12 {
            let some = Array(outcomes[part * 10..<part * 10 + 10])
            try bench.apply(from: "c\(part)", to: "c\(part + 1)", settled: .outcomes(some))
        }
        #expect(try !bench.database.giveBack(), "nothing was withdrawn")
        let scopes = [lost, RecordKey.room(2).scope]
        try bench.apply(from: "c12", to: "end", grants: scopes.map { .init(scope: $0, since: 9_000, role: nil) })
        #expect(try bench.database.giveBack())
        try expect(files(with: Self.secret), [])
        #expect(try !bench.database.giveBack(), "once is enough")
    }

    @Test func `a scope that a welcome purges leaves nothing either`() async throws {
        let bench = try bench()
        try await fill(bench)
        _ = try bench.database.beginConnection()
        try bench.database.welcomed(
            .make(state: .ok, kept: [HeldScope(scope: RecordKey.room(2).scope, since: 1)], purged: [lost]))
        try expect(files(with: Self.secret), [])
    }

    @Test func `during a read the log stays, and is emptied with the next frame or opening`() async throws {
        for opens in [false, true] {
            let folder = try TemporaryFolder()
            let tests = try WithdrawnBytesTests(folder)
            let bench = try tests.bench()
            try await tests.fill(bench)
            let cursor = try bench.string("SELECT value FROM tidemark_meta WHERE key = 'cursor'") ?? ""
            let snapshot = try #require(bench.database.writer as? DatabasePool).makeSnapshot()
            #expect(try await snapshot.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM notes") } != nil)
            try bench.apply(from: cursor, to: "end", grants: [.init(scope: lost, since: 9_000, role: nil)])
            #expect(try tests.files(with: Self.secret).contains("x.sqlite-wal"), "it is read")
            try snapshot.close()
            if opens {
                bench.database.abandonLock()
                let next = try tests.bench()
                try expect(tests.files(with: Self.secret), [])
                try next.database.close()
            } else {
                try bench.apply(from: "end", to: "after", .note(1, in: 2, seq: 9_001))
                try expect(tests.files(with: Self.secret), [])
            }
        }
    }

    private func expect(_ found: [String], _ wanted: [String], location: SourceLocation = #_sourceLocation) {
        #expect(found == wanted, sourceLocation: location)
    }

    private init(_ folder: TemporaryFolder) throws { self.folder = folder }
}
