import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Only one store at a time opens an account's file.
@Suite(.timeLimit(.minutes(5))) struct FileLockTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ account: UserID = Bench.user) async throws -> SyncStore {
        try await SyncStore.open(account: account, at: folder.url, schema: try TestSchema.schema())
    }

    @Test func `a second store on a file is refused by name, until the first is closed`() async throws {
        let first = try await open()
        let error = await #expect(throws: StoreError.self) { _ = try await open() }
        #expect(error?.code == .inUse)
        #expect(error?.message.hasPrefix("this process has \(folder.path(DatabaseFile.name(Bench.user)))") == true)
        #expect(error?.message.contains("close()") == true)
        _ = try await open(UserID("bob"))
        try await first.repository(Room.self).create(Room(people: ["ann"]))
        try await first.close()
        #expect(try await open().statistics().pending == 1)
    }

    @Test func `a store that is released leaves its file to the next`() async throws {
        var store: SyncStore? = try await open()
        try await store?.repository(Room.self).create(Room(people: ["ann"]))
        store = nil
        #expect(try await open().statistics().pending == 1)
    }

    @Test func `the owner of a file is reported, and no owner once the file is released`() async throws {
        let path = folder.path(DatabaseFile.name(Bench.user))
        #expect(FileLock.holder(of: path) == nil)
        let store = try await open()
        #expect(FileLock.holder(of: path) == getpid())
        try await store.close()
        #expect(FileLock.holder(of: path) == nil)
        let next = try await open()
        #expect(FileLock.holder(of: path) == getpid(), "asking took nothing away")
        try await next.close()
    }

    @Test func `a reader needs no lock`() async throws {
        let store = try await open()
        try await store.repository(Room.self).create(Room(people: ["ann"]))
        let inspection = try FileInspection(path: folder.path(DatabaseFile.name(Bench.user)))
        #expect(try inspection.diagnostics().outbox.count == 1)
    }

    @Test func `the remains of a dead process's lock block no store, and its present owner can be read`() async throws {
        let path = folder.path("\(DatabaseFile.name(Bench.user)).lock")
        try "4194304\n".write(toFile: path, atomically: true, encoding: .utf8)
        let store = try await open()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(ProcessInfo.processInfo.processIdentifier)\n")
        try await store.signOut(keeping: .nothing)
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
