import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

/// Rows that are not in the full-text index yet: a search finds them, and its results do not depend on the index.
@Suite(.timeLimit(.minutes(5))) struct LateIndexTests {
    private let folder: TemporaryFolder
    private let room = RecordKey.room(1).scope

    init() throws { folder = try TemporaryFolder() }

    private func bench(_ name: String = "x", rest: Duration = .seconds(3_600)) throws -> Bench {
        var limits = LocalLimits()
        limits.searchRest = rest
        let text = TestSchema.text.replacing(
            #""text": {"type": "string", "max": 100}"#, with: #""text": {"type": "string", "search": true}"#)
        return Bench(
            database: try LocalDatabase.open(
                path: folder.path("\(name).sqlite"), account: Bench.user, schema: try TestSchema.schema(text),
                newClient: Bench.client, limits: limits))
    }

    private func query(_ bench: Bench, _ text: String) throws -> SearchQuery {
        try SearchQuery(
            try bench.database.table("notes"), SearchTerms(text), where: nil, order: .newestFirst, limit: 10_000,
            in: nil)
    }

    /// The results of a search, sorted.
    private func found(_ bench: Bench, _ text: String) async throws -> [String] {
        let query = try query(bench, text)
        return try await bench.database.readIndexed { db in
            try query.fetch(db).compactMap { found in
                guard case .string(let text)? = found.row.record.fields["text"] else { return nil }
                return text
            }
        }.sorted()
    }

    private func waiting(_ bench: Bench) throws -> Int64 {
        let index = try bench.database.table("notes").search
        return try bench.database.writer.read { db in try index.waiting(db) }
    }

    /// Checks that the index has exactly the rows of the table.
    private func checkIndex(_ bench: Bench) throws {
        try bench.database.writer.write { db in
            try db.execute(
                sql: SearchTests.command("(\(SearchTests.index), rank) VALUES ('integrity-check', 1)"))
        }
    }

    private func note(_ number: UInt64, _ text: String) -> Mutation { .note(number, ["text": .string(text)]) }

    // MARK: Results

    @Test func `a waiting row is found, and the search adds it to the index`() async throws {
        let bench = try bench()
        try bench.write(1, .room(), note(1, "alpha one"), note(2, "beta two"))
        #expect(try waiting(bench) == 2)
        #expect(try await found(bench, "alp") == ["alpha one"])
        #expect(try waiting(bench) == 0)
        try checkIndex(bench)
    }

    @Test func `edits and deletions are right before and after a row is indexed`() async throws {
        let bench = try bench()
        try bench.write(1, .room(), note(1, "alpha one"), note(2, "alpha two"), note(3, "alpha three"))
        // The rows are waiting.
        try bench.write(2, .set(.note(1), "text", "beta one"), .delete(.note(2)))
        #expect(try await found(bench, "alpha") == ["alpha three"])
        #expect(try await found(bench, "beta") == ["beta one"])
        // The rows are indexed.
        try bench.write(3, .set(.note(1), "text", "gamma one"), .delete(.note(3)), note(4, "gamma four"))
        #expect(try await found(bench, "alpha") == [])
        #expect(try await found(bench, "beta") == [])
        #expect(try await found(bench, "gamma") == ["gamma four", "gamma one"])
        try checkIndex(bench)
    }

    @Test func `a row that replaces an indexed and deleted one is found`() async throws {
        let bench = try bench()
        try bench.write(1, .room(), note(1, "alpha one"), note(2, "alpha two"))
        #expect(try await found(bench, "alpha").count == 2)
        try bench.write(2, .delete(.note(2)))
        try bench.write(3, note(3, "beta three"))
        #expect(try await found(bench, "alpha") == ["alpha one"])
        #expect(try await found(bench, "beta") == ["beta three"])
        try checkIndex(bench)
    }

    @Test func `the index follows the server's changes of an own row, and a scope's loss and return`() async throws {
        let bench = try bench()
        try bench.join(room)
        try bench.write(1, note(1, "alpha own"))
        #expect(try await found(bench, "alpha") == ["alpha own"])
        try bench.write(2, note(2, "alpha pending"))
        try bench.apply(
            .note(1, seq: 2, author: "ann", ["text": "beta merged"]), .note(3, seq: 3, ["text": "alpha other"]),
            settled: .accepted(1, 1))
        #expect(try await found(bench, "alpha") == ["alpha other", "alpha pending"])
        #expect(try await found(bench, "beta") == ["beta merged"])
        try bench.apply(from: "c1", to: "c2", .note(4, seq: 4, ["text": "alpha late"]))
        try bench.apply(from: "c2", to: "c3", grants: [.init(scope: room, since: 5, role: nil)])
        #expect(try await found(bench, "alpha").contains("alpha late") == false)
        #expect(try await found(bench, "beta") == [])
        try bench.apply(from: "c3", to: "c4", grants: [.init(scope: room, since: 6, role: .member)])
        try bench.apply(from: "c4", to: "c5", .note(3, seq: 7, ["text": "alpha again"]))
        #expect(try await found(bench, "again") == ["alpha again"])
        try checkIndex(bench)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `after any sequence of writes, searches, closings and kills, a search finds the table's rows`(
        seed: UInt64
    ) async throws {
        var dice = SplitMix(seed: seed)
        var (bench, copies) = (try bench(), 0)
        try bench.write(1, .room())
        for step in 2..<250 as Range<UInt64> {
            let number = dice.below(40)
            let key = RecordKey.note(number)
            let text = FieldValue.string("w\(dice.below(5)) n\(step)")
            let isThere = try bench.row(key) != nil
            switch dice.below(10) {
            case 0, 1, 2, 3:
                if isThere {
                    try bench.write(step, .set(key, "text", text))
                } else if try bench.count("tidemark_outbox_record WHERE local_id = '\(key.id)'") == 0 {
                    try bench.write(step, .note(number, ["text": text]))
                } else {
                    let fields: Fields = ["text": text]
                    try bench.write(step, .undelete(key, fields.inRoom(1)))
                }
            case 4, 5: if isThere { try bench.write(step, .delete(key)) }
            case 6:
                let index = try bench.database.table("notes").search
                let rows = Int64(dice.below(4)) + 1
                _ = try await bench.database.change { db in try index.catchUp(rowsMax: rows, db) }
            case 7:
                // A killed process leaves the files that are on disk while the first database has them open.
                let name = copies == 0 ? "x" : "x\(copies)"
                copies += 1
                for suffix in [".sqlite", ".sqlite-wal"] {
                    try folder.copy("\(name)\(suffix)", to: "x\(copies)\(suffix)")
                }
                bench = try self.bench("x\(copies)")
            default:
                let word = "w\(dice.below(5))"
                let there = try await bench.database.writer.read { db in
                    try String.fetchAll(
                        db, sql: "SELECT text FROM notes WHERE text LIKE '\(word) %' ORDER BY text")
                }
                #expect(try await found(bench, word) == there.sorted())
            }
        }
        #expect(try await found(bench, "n").count == bench.count("notes"))
        try checkIndex(bench)
    }

    // MARK: Readers

    @Test func `a searching snapshot is consistent, also when it hides missing rows`() async throws {
        let store = try await SyncStore.open(
            account: Bench.user, at: folder.url, schema: try TestSchema.schema(SearchTests.schema))
        let entry = SearchTests.Entry(room: UUID(), text: "tide one")
        try await store.repository(SearchTests.Entry.self).create(entry)
        let seen = try await store.read { snapshot in
            let hits = try? snapshot.search("tide", in: SearchTests.Entry.self)
            return (hits?.map(\.model), try snapshot.read(SearchTests.Entry.self, entry.id))
        }
        #expect(seen.0 == [entry] && seen.1 == entry)
        var values = store.observe { snapshot in
            try snapshot.search("tide", in: SearchTests.Entry.self, order: .newestFirst).compactMap(\.model.text)
        }.makeAsyncIterator()
        #expect(try await values.next() == ["tide one"])
        try await store.repository(SearchTests.Entry.self).create(.init(room: entry.room, text: "tide two"))
        #expect(try await values.next() == ["tide two", "tide one"])
    }

    @Test func `on a full disk a search finds waiting rows, and leaves nothing`() async throws {
        let disk = SmallDisk(under: folder, bytes: 6_000_000)
        let bench = try bench()
        try bench.write(1, .room(), note(1, "alpha one"))
        disk.resize(to: 0)
        #expect(try await found(bench, "alpha") == ["alpha one"])
        #expect(try waiting(bench) == 1)
        disk.resize(to: 6_000_000)
        #expect(try await found(bench, "alpha") == ["alpha one"])
        #expect(try waiting(bench) == 0)
        try checkIndex(bench)
    }

    // MARK: Waiting rows

    @Test func `few rows wait, however many are written one by one`() throws {
        let bench = try bench()
        try bench.write(1, .room())
        var most: Int64 = 0
        for number in 2..<2_000 as Range<UInt64> {
            try bench.write(number, note(number, "word"))
            most = max(most, try waiting(bench))
        }
        #expect(most > SearchUpkeep.waitingAtRest && most < 2 * SearchUpkeep.waitingMax, "\(most)")
        try bench.database.close()
    }

    @Test func `a frame of many rows leaves none waiting`() throws {
        let bench = try bench()
        try bench.join(room)
        let changes = (1...6_000).map { Change.note(UInt64($0), seq: SequenceNumber($0), ["text": "word"]) }
        try bench.database.apply(.make(from: "c0", to: "c1", changes), now: 9_000)
        #expect(try waiting(bench) == 0)
        try checkIndex(bench)
    }

    @Test func `waiting rows are indexed as soon as no write is running`() async throws {
        let bench = try bench(rest: .milliseconds(1))
        try bench.write(1, .room())
        var number: UInt64 = 1
        while try waiting(bench) < 300 {
            number += 1
            try bench.write(number, note(number, "word"))
        }
        while try waiting(bench) >= SearchUpkeep.waitingAtRest, !Task.isCancelled {
            number += 1
            try bench.write(number, .set(.room(1), "title", .string("t\(number)")))
            await Task.yield()
        }
        #expect(try waiting(bench) < SearchUpkeep.waitingAtRest)
    }

    // MARK: Files

    @Test(arguments: [true, false])
    func `a damaged index is rebuilt, and the file is intact`(isWrittenFirst: Bool) async throws {
        let bench = try bench()
        try bench.write(1, .room())
        for number in 1...50 as ClosedRange<UInt64> { try bench.write(number + 1, note(number, "alpha n\(number)")) }
        #expect(try await found(bench, "alpha").count == 50)
        try await bench.database.writer.write { db in
            let table = "\"tidemark_search(notes)_data\""
            // A leaf whose header claims more bytes than it has: some versions of SQLite treat zeros as an empty leaf.
            let damage = Data(repeating: 0xff, count: 64)
            try db.execute(sql: "UPDATE \(table) SET block = ? WHERE id > 10", arguments: [damage])
        }
        let suspect = SuspectMark(path: folder.path("x.sqlite"))
        if isWrittenFirst {
            try bench.write(90, .set(.note(1), "text", "beta one"), .delete(.note(2)))
            #expect(try await found(bench, "beta") == ["beta one"])
        }
        #expect(try await found(bench, "alpha").count == (isWrittenFirst ? 48 : 50))
        #expect(!suspect.isSet)
        try checkIndex(bench)
    }

    @Test func `newer SQLite messages about a full-text index are no damage of the file`() {
        let ofIndex = "malformed inverted index for FTS5 table main.tidemark_search(notes)"
        #expect(FileCheck.damage(in: ["ok"]) == nil)
        #expect(FileCheck.damage(in: [ofIndex]) == nil)
        #expect(FileCheck.damage(in: [ofIndex, "row 3 missing from index x"]) == "row 3 missing from index x")
        #expect(FileCheck.damage(in: []) != nil)
    }

    @Test func `an index that matches the schema is left unchanged`() throws {
        let bench = try bench()
        let before = try bench.string("PRAGMA schema_version")
        let index = try bench.database.table("notes").search
        try bench.database.change { db in try index.follow(db) }
        #expect(try bench.string("PRAGMA schema_version") == before)
    }

    @Test func `a vacuumed file is searched by its contents, whatever its row ids are now`() async throws {
        let bench = try bench()
        try bench.join(room)
        for number in 1...20 as ClosedRange<UInt64> {
            try bench.apply(
                from: "c\(number - 1)", to: "c\(number)", .note(number, seq: SequenceNumber(number), ["text": "alpha"]))
        }
        try bench.write(1, note(30, "beta own"))
        #expect(try await found(bench, "alpha").count == 20)
        try bench.database.clearCache()
        #expect(try waiting(bench) > 0, "whatever places the rows have now")
        for suffix in [".sqlite", ".sqlite-wal"] { try folder.copy("x\(suffix)", to: "y\(suffix)") }
        for bench in [bench, try self.bench("y")] {
            #expect(try await found(bench, "alpha") == [])
            #expect(try await found(bench, "beta") == ["beta own"])
            try checkIndex(bench)
        }
    }
}
