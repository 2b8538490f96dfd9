import Foundation
import GRDB
import GRDBSQLite
import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

/// The data that survives a power cut, and the visibility of data that does not yet.
@Suite(.timeLimit(.minutes(5))) final class DurabilityTests {
    private let folder: TemporaryFolder
    private let bench: Bench
    private let disk: LogDisk

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(path: folder.path("a.sqlite"))
        disk = try LogDisk(under: bench.database)
    }

    deinit { disk.leave() }

    @Test func `a write after the end of the store is refused`() throws {
        try bench.database.close()
        #expect(throws: StoreError.self) { try bench.write(1, .note(1)) }
        #expect(throws: StoreError.self) { try bench.database.evict(now: 0) }
    }

    /// The database as a power cut after the last flush leaves it.
    private func afterPowerCut() throws -> Bench { try Bench(path: folder.path("cut.sqlite")) }

    /// From now on copies the disk's contents with each flush.
    private func notePowerCuts() {
        disk.answers { [folder] flush in
            let code = flush()
            do {
                for end in ["", "-wal"] {
                    let copy = URL(fileURLWithPath: folder.path("cut.sqlite\(end)"))
                    try Data(contentsOf: URL(fileURLWithPath: folder.path("a.sqlite\(end)"))).write(to: copy)
                }
            } catch {
                Issue.record(error)
            }
            return code
        }
    }

    @Test func `a write that returned survives a power cut`() throws {
        notePowerCuts()
        try bench.write(1, .room(), .note(1))
        let left = try afterPowerCut()
        #expect(try left.fields(.note(1)) != nil)
        #expect(try left.database.pendingCount() == 1)
    }

    @Test func `a push is sent once it is on the disk, with everything that it depends on`() throws {
        disk.answers { _ in SQLITE_OK }
        try bench.write(1, .room(), .note(1))
        notePowerCuts()
        let push = try bench.database.nextPush(after: 0, maxTransactions: 10, maxBytes: .max)
        #expect(push.map(\.number) == [1])
        let left = try afterPowerCut()
        #expect(try left.string("SELECT state FROM tidemark_outbox") == "sending")
        #expect(try left.fields(.note(1)) != nil)
    }

    @Test func `frames wait for no disk, and a power cut may take them back`() throws {
        try bench.join(RecordKey.room(1).scope)
        notePowerCuts()
        try bench.write(1, .note(2))
        let before = disk.flushes
        try bench.apply(.note(1, seq: 1))
        #expect(disk.flushes == before)
        #expect(try bench.fields(.note(1)) != nil, "it is there to be seen")
        #expect(try afterPowerCut().fields(.note(1)) == nil)
    }

    @Test func `confirmed frames survive a power cut, and are confirmed once`() throws {
        try bench.join(RecordKey.room(1).scope)
        notePowerCuts()
        try bench.apply(.note(1, seq: 1))
        let before = disk.flushes
        try bench.database.confirm()
        try bench.database.confirm()
        #expect(disk.flushes == before + 1)
        #expect(try afterPowerCut().fields(.note(1)) != nil)
    }

    @Test func `a write of the app flushes the frames before it to the disk`() throws {
        try bench.join(RecordKey.room(1).scope)
        notePowerCuts()
        try bench.apply(.note(1, seq: 1))
        try bench.write(1, .note(2))
        #expect(try afterPowerCut().fields(.note(1)) != nil)
    }

    @Test func `a disk that does not confirm frames is reported to the caller that would acknowledge them`() throws {
        try bench.join(RecordKey.room(1).scope)
        disk.answers { _ in SQLITE_IOERR }
        try bench.apply(.note(1, seq: 1))
        let error = #expect(throws: StoreError.self) { try bench.database.confirm() }
        #expect(error?.code == .unconfirmed)
    }

    @Test func `a connection is counted on the disk before it is opened`() throws {
        notePowerCuts()
        let told = try bench.database.beginConnection().connection
        #expect(try afterPowerCut().database.beginConnection().connection == told + 1)
    }

    @Test func `an observer sees a write while the disk still confirms it`() async throws {
        let store = SyncStore(database: bench.database, environment: .system)
        let notes = store.repository(Note.self)
        var screen = notes.observe().makeAsyncIterator()
        #expect(try await screen.next() == [])
        let isSeen = DispatchSemaphore(value: 0)
        let waited = Lock<DispatchTimeoutResult?>(nil)
        disk.answers { flush in
            let wait = isSeen.wait(timeout: .now() + 300)
            waited.withLock { $0 = $0 ?? wait }
            return flush()
        }
        async let written = notes.create(Note(room: UUID(), text: "seen"))
        #expect(try await screen.next()?.map(\.text) == ["seen"])
        isSeen.signal()
        _ = try await written
        #expect(waited.withLock { $0 } == .success)
    }

    @Test func `a write that changes nothing causes no flush`() throws {
        try bench.write(1, .room())
        let before = disk.flushes
        #expect(before > 0)
        #expect(try bench.database.nextPush(after: 1, maxTransactions: 10, maxBytes: .max).isEmpty)
        #expect(disk.flushes == before)
    }

    @Test func `a write that the disk does not confirm throws, exists, and is sent`() async throws {
        let store = SyncStore(database: bench.database, environment: .system)
        let inbox = await store.idleInbox()
        disk.answers { _ in SQLITE_IOERR }
        let note = Note(room: UUID(), text: "here")
        let error = await #expect(throws: StoreError.self) { try await store.repository(Note.self).create(note) }
        #expect(error?.code == .unconfirmed)
        #expect(try await store.repository(Note.self).read(note.id)?.text == "here")
        #expect(await inbox.names() == ["wrote"])
        disk.answers { flush in flush() }
        #expect(try bench.database.nextPush(after: 0, maxTransactions: 10, maxBytes: .max).count == 1)
        #expect(SuspectMark(path: folder.path("a.sqlite")).isSet, "the file is looked through the next time")
    }
}
