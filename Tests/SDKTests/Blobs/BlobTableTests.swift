import Foundation
import GRDB
import Testing
import TidemarkModel
import TidemarkWire

@testable import Tidemark

@Suite struct BlobTableTests {
    private let room = RecordKey.room(1).scope

    private func bytes(_ seed: UInt8, _ count: Int = 1_000) -> Data { Data(repeating: seed, count: count) }

    private func key(_ bytes: Data, in scope: ScopeID? = nil) -> BlobKey {
        BlobKey(scope: scope ?? room, digest: BlobDigest(of: bytes))
    }

    private func table<Value>(_ bench: Bench, _ body: (BlobTable) throws -> Value) throws -> Value {
        try bench.database.change { try body(BlobTable(db: $0)) }
    }

    private func keep(_ bench: Bench, _ bytes: Data, in scope: ScopeID? = nil, now: Int64 = 1) throws {
        let policy = bench.database.limits.cache.blobs
        try table(bench) { try $0.keep(bytes, as: key(bytes, in: scope), policy: policy, now: now) }
    }

    @Test func `bytes and the record that names them are written together or not at all`() async throws {
        let store = try SyncStore.test()
        let room = Room(people: ["ann"])
        let scope = ScopeID(record: room.id)
        let digest = BlobDigest(of: bytes(1))
        await #expect(throws: StoreError.self) {
            try await store.write { t in
                t.addBlob(bytes(1), in: scope)
                t.create(room)
                t.create(Note(room: room.id, text: String(repeating: "x", count: 101)))
            }
        }
        #expect(try await store.blobs.unsent().isEmpty)
        try await store.write { t in
            #expect(t.addBlob(bytes(1), in: scope) == digest)
            t.create(room)
            t.create(Note(room: room.id, file: digest.text))
        }
        #expect(try await store.blobs.unsent().map(\.digest) == [digest])
        #expect(try await store.blobs.read(digest, in: scope) == bytes(1))
        #expect(try await store.repository(Note.self).readAll().map(\.file) == [digest.text])
    }

    @Test func `bytes alone are a write too, and no transaction is pending for it`() async throws {
        let store = try SyncStore.test()
        try await store.write { $0.addBlob(bytes(1), in: room) }
        try await store.blobs.add(bytes(2), in: room)
        #expect(try await store.blobs.unsent().map(\.byteCount) == [1_000, 1_000])
        #expect(store.currentStatus.pending == 0 && store.currentStatus.unsentBlobs == 2)
    }

    @Test func `bytes that are too large, or too many, are refused before anything is written`() async throws {
        let store = try SyncStore.test()
        let large = await #expect(throws: StoreError.self) {
            try await store.blobs.add(Data(count: (16 << 20) + 1), in: room)
        }
        #expect(large?.code == .rejected(.tooLarge))
        let bench = try Bench()
        var policy = BlobPolicy()
        policy.maxWaitingBytes = 1_500
        try table(bench) { try $0.keep(bytes(1), as: key(bytes(1)), policy: policy, now: 1) }
        let much = #expect(throws: StoreError.self) {
            try table(bench) { try $0.keep(bytes(2), as: key(bytes(2)), policy: policy, now: 1) }
        }
        #expect(much?.code == .rejected(.quota))
        #expect(try bench.count("tidemark_blob") == 1)
        #expect(try bench.count("tidemark_blob_bytes") == 1)
    }

    /// The server deletes bytes that no record has named for long; a device that names them again sends them again.
    @Test func `bytes that the server has are sent again when they are kept again a day later`() throws {
        let bench = try Bench()
        try bench.join(room)
        try keep(bench, bytes(1), now: 1_000)
        try bench.database.note(.sent, of: key(bytes(1)))
        #expect(try bench.database.hold(bytes(2), as: key(bytes(2)), now: 1_000))
        for seed: UInt8 in [1, 2] { try keep(bench, bytes(seed), now: 86_400_999) }
        #expect(try bench.database.nextBlobs(limit: 9).isEmpty)
        for seed: UInt8 in [1, 2] { try keep(bench, bytes(seed), now: 86_401_000) }
        #expect(try Set(bench.database.nextBlobs(limit: 9)) == [key(bytes(1)), key(bytes(2))])
        try bench.database.note(.sent, of: key(bytes(1)))
        try keep(bench, bytes(1), now: 86_401_001)
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(2))])
    }

    @Test func `bytes that arrive at the server after their scope was lost are not held here`() throws {
        let bench = try Bench()
        try bench.join(room)
        for seed: UInt8 in [1, 2] { try keep(bench, bytes(seed)) }
        try table(bench) { try $0.lose(room) }
        try bench.database.note(.sent, of: key(bytes(1)))
        #expect(try bench.count("tidemark_blob WHERE state = 'held'") == 0)
        #expect(try bench.count("tidemark_blob") == 1, "what did not arrive stays, for the app to see")
        #expect(try bench.count("tidemark_blob_bytes") == 1)
        try table(bench) { try $0.regain(room) }
        try bench.database.note(.sent, of: key(bytes(2)))
        #expect(try bench.count("tidemark_blob WHERE state = 'held'") == 1)
    }

    @Test func `nothing is sent to a scope that the server has not granted`() throws {
        let bench = try Bench()
        try keep(bench, bytes(1))
        #expect(try bench.database.nextBlobs(limit: 9).isEmpty)
        try bench.join(room)
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(1))])
    }

    @Test func `the bytes with the fewest attempts are sent first, then the oldest`() throws {
        let bench = try Bench()
        try bench.join(room)
        for seed in 1...3 { try keep(bench, bytes(UInt8(seed)), now: Int64(seed)) }
        try bench.database.note(.later("cut", after: nil), of: key(bytes(1)))
        try bench.database.note(.refused(.quota, "507"), of: key(bytes(2)))
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(3)), key(bytes(1))])
        try table(bench) { _ = try $0.retry(key(bytes(2))) }
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(2)), key(bytes(3)), key(bytes(1))])
    }

    @Test func `the same bytes in two scopes are stored once, and each scope has its own life`() throws {
        let bench = try Bench()
        let other = RecordKey.room(2).scope
        try bench.join(room, other)
        try keep(bench, bytes(1))
        try keep(bench, bytes(1), in: other)
        #expect(try bench.count("tidemark_blob") == 2)
        #expect(try bench.count("tidemark_blob_bytes") == 1)
        try bench.database.note(.sent, of: key(bytes(1)))
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(1), in: other)])
        try table(bench) { try $0.clearHeld() }
        #expect(try bench.database.blob(key(bytes(1))) == nil)
        #expect(try bench.database.blob(key(bytes(1), in: other)) == bytes(1))
        #expect(try table(bench) { try $0.discard(key(bytes(1), in: other)) })
        #expect(try bench.count("tidemark_blob_bytes") == 0)
    }

    @Test func `the least recently seen bytes are evicted, and none that wait to be sent`() throws {
        let bench = try Bench()
        try bench.join(room)
        for seed in 1...5 { try keep(bench, bytes(UInt8(seed)), now: Int64(seed)) }
        for seed in 2...5 { try bench.database.note(.sent, of: key(bytes(UInt8(seed)))) }
        try table(bench) { try $0.used(key(bytes(2)), now: 9) }
        let count = try table(bench) { try $0.evict(above: 2_999) }
        #expect(count == 2)
        let left = try (1...5).filter { try bench.database.blob(key(bytes(UInt8($0)))) != nil }
        #expect(left == [1, 2, 5])
        #expect(try bench.count("tidemark_blob_bytes") == 3)
        #expect(try table(bench) { try $0.evict(above: 0) } == 2)
        #expect(try bench.database.blob(key(bytes(1))) == bytes(1), "it waits")
    }

    @Test func `fetched bytes make room for themselves`() throws {
        var limits = LocalLimits()
        limits.cache.blobs.maxHeldBytes = 2_500
        let database = try LocalDatabase.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits)
        let bench = Bench(database: database)
        try bench.join(room)
        for seed in 1...4 {
            #expect(try database.hold(bytes(UInt8(seed)), as: key(bytes(UInt8(seed))), now: Int64(seed)))
        }
        #expect(try (1...4).filter { try database.blob(key(bytes(UInt8($0)))) != nil } == [3, 4])
    }

    @Test func `the end of a membership deletes bytes from there, and unsent ones fail until it is back`()
        throws
    {
        let bench = try Bench()
        try bench.join(room)
        #expect(try bench.database.hold(bytes(1), as: key(bytes(1)), now: 1))
        try keep(bench, bytes(2))
        try bench.database.apply(
            .make(from: "c0", to: "c1", [], grants: [.init(scope: room, since: 5, role: nil)]), now: 2)
        #expect(try bench.database.blob(key(bytes(1))) == nil)
        #expect(try table(bench) { try $0.status(key(bytes(2))) } == .rejected(.notThere))
        #expect(try !bench.database.hold(bytes(1), as: key(bytes(1)), now: 3), "it was on its way")
        try bench.database.apply(
            .make(from: "c1", to: "c2", [], grants: [.init(scope: room, since: 6, role: .member)]), now: 4)
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(2))])
    }

    @Test func `blobs do not push records out of the cache`() throws {
        let bench = try Bench()
        try bench.join(room)
        let before = try bench.database.writer.read { try FileSize(db: $0).used() }
        try keep(bench, bytes(1, 8 << 20))
        let after = try bench.database.writer.read { try FileSize(db: $0).used() }
        #expect(after - before < 64 << 10)
    }

    @Test func `clearing the cache and copying the file to another installation keep unsent bytes`() async throws {
        let bench = try Bench()
        try bench.join(room)
        #expect(try bench.database.hold(bytes(1), as: key(bytes(1)), now: 1))
        try keep(bench, bytes(2))
        let store = SyncStore(database: bench.database, environment: .counting())
        try await store.clearCache()
        try bench.database.fork(newClient: UniqueID(high: 9, low: 9), isCopy: true)
        #expect(try bench.database.blob(key(bytes(1))) == nil)
        #expect(try bench.database.nextBlobs(limit: 9) == [key(bytes(2))])
    }

    @Test func `unsent bytes of a damaged file are saved, and incomplete ones are not`() throws {
        let file = try FileDamage()
        let whole = Data("whole blob ".utf8) + Data((0..<20_000).map { UInt8($0 % 251) })
        let torn = Data((0..<20_000).map { UInt8($0 % 13) }) + Data("torn blob".utf8)
        try file.fill { bench in
            try bench.join(room)
            try bench.database.apply(
                .make(from: "c0", to: "c1", [.note(1, seq: 1, ["text": "seen and damaged"])]), now: 1)
            #expect(try bench.database.hold(bytes(1), as: key(bytes(1)), now: 1))
            try keep(bench, torn)
            try keep(bench, whole)
        }
        #expect(try file.damage(pagesWith: "torn blob") == 1)
        #expect(try file.damage(pagesWith: "seen and damaged") > 0)
        let (bench, notice) = try file.open()
        guard case .recovered(let recovery)? = notice else {
            Issue.record("not recovered: \(String(describing: notice))")
            return
        }
        #expect(recovery.blobs == 1 && recovery.unreadableBlobs == 1)
        #expect(try bench.database.blob(key(whole)) == whole)
        #expect(try bench.database.blob(key(torn)) == nil)
        #expect(try bench.database.blob(key(bytes(1))) == nil, "the server has it")
        try bench.join(room)
        #expect(try bench.database.nextBlobs(limit: 9) == [key(whole)])
    }
}

extension LocalDatabase {
    fileprivate func blob(_ key: BlobKey) throws -> Data? { try writer.read { try BlobTable(db: $0).bytes(key) } }
}
