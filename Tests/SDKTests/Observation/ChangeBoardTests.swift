import GRDB
import Testing
import TidemarkModel

@testable import Tidemark

/// The commits that an observation is notified of.
@Suite(.timeLimit(.minutes(5))) struct ChangeBoardTests {
    private let bench: Bench
    private let watch: ChangeWatch
    private let notes = "SELECT text FROM notes"
    private let rooms = "SELECT people FROM rooms"

    init() throws {
        bench = try Bench()
        watch = bench.database.changes.watch()
    }

    private func read(_ queries: String...) throws {
        try bench.database.writer.read { db in
            try watch.reading { for sql in queries { _ = try db.all(sql) } }
        }
    }

    /// The region of a query, without running it.
    private func region(_ sql: String) throws -> DatabaseRegion {
        try bench.database.writer.read { try $0.cachedStatement(sql: sql).databaseRegion }
    }

    /// Runs `body` as on another thread.
    private func unrecorded(_ body: () throws -> Void) rethrows {
        try RegionRecorder.$current.withValue(nil, operation: body)
    }

    /// Reads, and lets one commit pass unwatched.
    private func settle(_ queries: String...) throws {
        for sql in queries { try read(sql) }
        try bench.write(90, .room(90))
        for sql in queries { try read(sql) }
    }

    @Test func `a query is due again when its tables change, and not when others do`() throws {
        #expect(watch.isChanged, "nothing was read yet")
        try settle(notes)
        #expect(!watch.isChanged)
        try bench.write(1, .room(1))
        #expect(!watch.isChanged)
        try bench.write(2, .note(1))
        #expect(watch.isChanged)
        try read(notes)
        #expect(!watch.isChanged)
    }

    @Test func `a rolled back change is none, now or later`() throws {
        struct Undone: Error {}
        try settle(notes)
        #expect(throws: Undone.self) {
            try bench.database.writer.write { db in
                try db.run(
                    """
                    INSERT INTO notes (local_id, scope, seq, created_time, author, state)
                    VALUES ('a', 'b', 0, 0, 'ann', 'synced')
                    """)
                throw Undone()
            }
        }
        #expect(!watch.isChanged)
        try bench.write(1, .room(1))
        #expect(!watch.isChanged)
    }

    @Test func `a transaction in progress at the first reading is noticed`() throws {
        try bench.database.writer.write { db in
            try db.run(
                """
                INSERT INTO notes (local_id, scope, seq, created_time, author, state)
                VALUES ('a', 'b', 0, 0, 'ann', 'synced')
                """)
            try watch.reading { RegionRecorder.current?.note(try region(notes, db)) }
            #expect(!watch.isChanged)
        }
        #expect(watch.isChanged)
    }

    @Test func `a transaction in progress when more is read than before is noticed`() throws {
        try settle(notes)
        try bench.database.writer.write { db in
            try db.run("DELETE FROM rooms")
            try watch.reading {
                RegionRecorder.current?.note(try region(notes, db))
                RegionRecorder.current?.note(try region(rooms, db))
            }
            #expect(!watch.isChanged)
        }
        #expect(watch.isChanged)
        try read(notes, rooms)
        try bench.write(1, .note(1))
        #expect(watch.isChanged)
    }

    @Test func `a commit during the reading is noticed, for earlier tables and for new ones`() throws {
        try settle(notes)
        let (notes, rooms) = (try region(notes), try region(rooms))
        try watch.reading {
            RegionRecorder.current?.note(notes)
            try unrecorded { try bench.write(1, .note(1)) }
        }
        #expect(watch.isChanged)
        try watch.reading {
            RegionRecorder.current?.note(rooms)
            try unrecorded { try bench.write(2, .room(2)) }
        }
        #expect(watch.isChanged)
    }

    @Test func `a table without rowids notifies its own readers alone`() throws {
        let other = bench.database.changes.watch()
        try settle("SELECT role FROM tidemark_scope")
        try bench.database.writer.read { db in try other.reading { _ = try db.all(notes) } }
        try bench.write(1, .room(1))
        try bench.database.writer.read { db in try other.reading { _ = try db.all(notes) } }
        #expect(!watch.isChanged && !other.isChanged)
        try bench.database.writer.write { db in try ScopeTable(db: db).noteChange() }
        #expect(watch.isChanged && !other.isChanged)
    }

    @Test func `a waiter continues with the commit, and with the end of its task`() async throws {
        try settle(notes)
        for ending in [false, true] {
            let waiting = Task { [watch] in
                await watch.changed()
                return Task.isCancelled
            }
            try await eventually { bench.database.changes.waiting != 0 }
            if ending { waiting.cancel() } else { try bench.write(1, .note(1)) }
            #expect(await waiting.value == ending)
            try read(notes)
        }
    }

    @Test func `an observation that ended adds no cost to a write`() throws {
        let board = bench.database.changes
        let kind = DatabaseEventKind.insert(tableName: "notes")
        do {
            let watch = board.watch()
            try bench.database.writer.read { db in try watch.reading { _ = try db.all(notes) } }
            try bench.write(1, .room(1))
            #expect(board.observes(eventsOfKind: kind))
        }
        #expect(!board.observes(eventsOfKind: kind))
    }

    @Test func `a database that ended leaves nothing on its connection`() throws {
        let queue = try DatabaseQueue()
        weak var board: ChangeBoard?
        do {
            let database = try LocalDatabase(
                queue, account: Bench.user, schema: try TestSchema.schema(), newClient: UniqueID(high: 9, low: 9))
            board = database.changes
            #expect(board != nil)
        }
        #expect(board == nil)
    }

    private func region(_ sql: String, _ db: Database) throws -> DatabaseRegion {
        try db.cachedStatement(sql: sql).databaseRegion
    }
}
