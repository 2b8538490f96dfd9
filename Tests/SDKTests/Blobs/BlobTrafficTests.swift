import Foundation
import GRDB
import Testing
import TidemarkLock
import TidemarkModel

@testable import Tidemark

@Suite(.timeLimit(.minutes(5))) struct BlobTrafficTests {
    private let server = BlobShelf()
    private let store: SyncStore
    private let room = ScopeID(record: RecordKey.room(1).id)
    private let photo = Data((0..<5_000).map { UInt8($0 % 251) })

    init() throws {
        store = try .test()
        server.messages.grant([room])
    }

    private func connect(token: @escaping @Sendable () async throws -> String = { "t" }) async throws {
        try store.connect(to: "http://test", transport: server, token: token)
        for await status in store.status where status.connection == .live { break }
    }

    private func waiting(_ digest: BlobDigest, for status: BlobStatus) async throws {
        for try await now in store.blobs.status(of: digest, in: room) where now == status { break }
    }

    // MARK: Sending

    @Test func `bytes kept offline are sent with the connection, and syncNow returns when they have arrived`()
        async throws
    {
        let digest = try await store.blobs.add(photo, in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        #expect(try await store.syncNow().connection == .live)
        #expect(try await store.blobs.unsent().isEmpty)
        #expect(server.shelf == ["/v1/blobs/\(digest)?scope=\(room)": photo])
        #expect(server.calls.map(\.token) == ["t"])
        try await waiting(digest, for: .held)
        #expect(try await store.blobs.read(digest, in: room) == photo)
        #expect(server.gets == 0)
        await store.disconnect()
    }

    @Test func `while connected bytes are sent at once, two at a time, and each once`() async throws {
        try await connect()
        server.holdBack()
        var digests: [BlobDigest] = []
        for seed in 0..<6 {
            digests.append(try await store.blobs.add(Data(repeating: UInt8(seed), count: 9), in: room))
        }
        try await eventually { server.waiting >= 2 }
        server.letGo()
        for digest in digests { try await waiting(digest, for: .held) }
        #expect(server.puts == 6 && server.inFlightMax == 2)
        await store.disconnect()
    }

    @Test func `a put whose answer was lost is put again, and is one blob`() async throws {
        // No retry happens by itself: this clock does not move.
        var environment = StoreEnvironment.counting()
        environment.clock = HandClock()
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        server.loseAnswers(1)
        let digest = try await store.blobs.add(photo, in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        let unsent = try #require(try await store.blobs.unsent().first)
        #expect(unsent.attempts == 1 && unsent.failure == nil && unsent.lastError != nil)
        #expect(server.shelf.count == 1)
        store.pause()
        try await eventually { server.messages.openConnections == 0 }
        store.resume()
        for try await now in store.blobs.status(of: digest, in: room) where now == .held { break }
        #expect(server.puts == 2 && server.shelf.count == 1)
        await store.disconnect()
    }

    @Test(arguments: [
        (404, BlobFailure.notThere), (413, .tooLarge), (422, .invalid), (507, .quota), (501, .unsupported),
    ])
    func `a refusal is shown, delays no other blob, and is retried by hand and at the next launch`(
        _ status: Int, _ failure: BlobFailure
    ) async throws {
        server.answer(status, body: Data("{\"msg\":\"why\"}".utf8))
        let refused = try await store.blobs.add(photo, in: room)
        let other = try await store.blobs.add(Data("other".utf8), in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        _ = try await store.syncNow()
        // The network decides which of the two reached the server first.
        let unsent = try await store.blobs.unsent()
        #expect(unsent.map(\.failure) == [failure])
        for await seen in store.status where seen.rejectedBlobs == 1 && seen.unsentBlobs == 0 { break }
        #expect(unsent.first?.lastError?.contains("why") == true)
        let digest = try #require(unsent.first?.digest)
        #expect(server.puts == 2)
        _ = try await store.syncNow()
        #expect(server.puts == 2)
        server.answer(status)
        try await store.blobs.retry(digest, in: room)
        _ = try await store.syncNow()
        #expect(server.puts == 3 && server.shelf.count == 1)
        #expect(store.metrics.blobsRejected == 2)
        await store.disconnect()
        try await connect()
        for digest in [refused, other] { try await waiting(digest, for: .held) }
        #expect(server.shelf.count == 2)
        let error = await #expect(throws: StoreError.self) { try await store.blobs.retry(digest, in: room) }
        #expect(error?.code == .notFound)
        await store.disconnect()
    }

    @Test func `a refused token is renewed once, by one call for all`() async throws {
        let tokens = TokenSource()
        try await connect { tokens.next() }
        #expect(tokens.given == 1)
        server.take(tokens: ["token 2"])
        server.holdBack()
        let keys = try await [
            store.blobs.add(photo, in: room), store.blobs.add(Data("other".utf8), in: room),
        ]
        try await eventually { server.waiting >= 2 }
        server.letGo()
        for key in keys { try await waiting(key, for: .held) }
        #expect(tokens.given <= 3 && server.calls.count == 4)
        let again = server.calls.filter { $0.target.contains("&client=") }
        #expect(again.count == 2, "a call that was refused says which device asks, when it is made again")
        // A token that stays refused causes no loop.
        server.take(tokens: [])
        let calls = server.calls.count
        let digest = try await store.blobs.add(Data("third".utf8), in: room)
        _ = try await store.syncNow()
        #expect(server.calls.count == calls + 2)
        #expect(try await store.blobs.unsent().map(\.digest) == [digest])
        await store.disconnect()
    }

    @Test func `a transport that carries only messages reports it, and nothing is lost`() async throws {
        server.stopCarrying()
        let digest = try await store.blobs.add(photo, in: room)
        try await connect()
        try await waiting(digest, for: .rejected(.unsupported))
        let other = BlobDigest(of: Data("other".utf8))
        let error = await #expect(throws: BlobError.self) { try await store.blobs.read(other, in: room) }
        #expect(error?.code == .unsupported)
        #expect(try await store.blobs.read(digest, in: room) == photo)
        await store.disconnect()
    }

    @Test func `a server without blobs, or with a smaller limit, gets no futile calls`() async throws {
        server.messages.tell(blobBytesMax: 4_999)
        let digest = try await store.blobs.add(photo, in: room)
        try await connect()
        try await waiting(digest, for: .rejected(.tooLarge))
        #expect(try await store.blobs.unsent().first?.lastError == "5000 bytes; the server takes 4999")
        await store.disconnect()
        server.messages.tell(blobBytesMax: nil)
        try await connect()
        try await waiting(digest, for: .rejected(.unsupported))
        let other = BlobDigest(of: Data("other".utf8))
        let error = await #expect(throws: BlobError.self) { try await store.blobs.read(other, in: room) }
        #expect(error?.code == .unsupported)
        #expect(server.calls.isEmpty)
        await store.disconnect()
    }

    @Test func `syncNow waits for bytes on their way`() async throws {
        server.holdBack()
        let digest = try await store.blobs.add(photo, in: room)
        try await connect()
        let (store, ends) = (store, TokenSource())
        let caller = Task {
            _ = try await store.syncNow()
            _ = ends.next()
        }
        try await eventually { server.waiting >= 1 }
        for _ in 0..<50_000 where ends.given == 0 { await Task.yield() }
        #expect(ends.given == 0)
        server.letGo()
        try await caller.value
        #expect(try await store.statusNow(digest, room) == .held)
        await store.disconnect()
    }

    @Test func `a scheduler's round sends waiting bytes while paused`() async throws {
        store.pause()
        try store.connect(to: "http://test", transport: server) { "t" }
        try await store.blobs.add(photo, in: room)
        _ = try await store.syncNow()
        #expect(server.calls.isEmpty)
        server.holdBack()
        let store = store
        let round = Task { await store.runOnce(deadline: .seconds(3_600)) }
        try await eventually { server.waiting >= 1 }
        for _ in 0..<50_000 where !store.isPaused { await Task.yield() }
        #expect(!store.isPaused)
        server.letGo()
        #expect(await round.value.connection == .live)
        #expect(try await store.blobs.unsent().isEmpty)
        #expect(server.puts == 1 && store.isPaused)
        await store.disconnect()
    }

    @Test func `abandoned bytes are deleted, and not sent`() async throws {
        let digest = try await store.blobs.add(photo, in: room)
        try await store.blobs.discard(digest, in: room)
        try await connect()
        _ = try await store.syncNow()
        #expect(server.calls.isEmpty)
        let error = await #expect(throws: StoreError.self) { try await store.blobs.discard(digest, in: room) }
        #expect(error?.code == .notFound)
        await store.disconnect()
    }

    // MARK: Fetching

    @Test func `many views of one picture share a download, and one that gives up does not end it for the others`()
        async throws
    {
        let digest = server.put(photo, in: room)
        try await connect()
        server.holdBack()
        let (store, room) = (store, room)
        let lookers = (0..<5).map { _ in Task { try await store.blobs.read(digest, in: room) } }
        try await eventually { server.waiting >= 1 }
        lookers[0].cancel()
        await #expect(throws: CancellationError.self) { try await lookers[0].value }
        server.letGo()
        for looker in lookers.dropFirst() { #expect(try await looker.value == photo) }
        #expect(server.gets == 1)
        #expect(try await store.blobs.read(digest, in: room) == photo)
        #expect(server.gets == 1)
        #expect(store.metrics.blobsAsked >= 5 && store.metrics.blobHitRate != nil)
        await store.disconnect()
    }

    @Test func `bytes that do not match the digest are refused and not kept`() async throws {
        let digest = server.put(photo, in: room)
        server.replace("/v1/blobs/\(digest)?scope=\(room)", with: Data("a lie".utf8))
        try await connect()
        let error = await #expect(throws: BlobError.self) { try await store.blobs.read(digest, in: room) }
        #expect(error?.code == .damaged)
        #expect(try await store.statusNow(digest, room) == .absent)
        _ = server.put(photo, in: room)
        #expect(try await store.blobs.read(digest, in: room) == photo)
        #expect(try await store.statusNow(digest, room) == .held)
        await store.disconnect()
    }

    @Test func `each reason for missing bytes has its name`() async throws {
        let absent = BlobDigest(of: Data("nowhere".utf8))
        func code(_ digest: BlobDigest, in scope: ScopeID) async -> BlobError.Code? {
            do {
                _ = try await store.blobs.read(digest, in: scope)
                return nil
            } catch { return (error as? BlobError)?.code }
        }
        #expect(await code(absent, in: room) == .offline)
        try await connect()
        #expect(await code(absent, in: room) == .notThere)
        let large = server.put(Data(count: (16 << 20) + 1), in: room)
        #expect(await code(large, in: room) == .tooLarge)
        #expect(server.calls.allSatisfy { $0.maxAnswerBytes == 16 << 20 })
        server.answer(503)
        #expect(await code(absent, in: room) == .unavailable)
        server.cut(1)
        #expect(await code(absent, in: room) == .offline)
        let elsewhere = ScopeID("elsewhere")
        let digest = server.put(photo, in: elsewhere)
        #expect(await code(digest, in: elsewhere) == .notThere, "the account does not hold the scope")
        await store.disconnect()
        #expect(await code(absent, in: room) == .offline)
    }

    @Test func `a caller waiting for bytes learns of the connection's end, also before its turn`() async throws {
        try await connect()
        server.holdBack()
        let (store, room) = (store, room)
        let lookers = (0..<5).map { number in
            let digest = server.put(photo + [UInt8(number)], in: room)
            return Task { try await store.blobs.read(digest, in: room) }
        }
        try await eventually { server.waiting >= 4 }
        let end = Task { await store.disconnect() }
        try await eventually { store.currentStatus.connection == .stopped || server.messages.openConnections == 0 }
        server.letGo()
        await end.value
        var told = 0
        for looker in lookers {
            do { _ = try await looker.value } catch {
                #expect((error as? BlobError)?.code == .offline)
                told += 1
            }
        }
        #expect(told >= 1)
        #expect(server.gets == 4)
    }

    @Test func `reading a picture updates its last use, but not each time`() async throws {
        let time = Lock<Int64>(1_000)
        let environment = StoreEnvironment(now: { time.withLock { $0 } }, random: { (1, 2) })
        let store = try SyncStore.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), environment: environment)
        let digest = try await store.blobs.add(photo, in: room)
        func lastUse() throws -> Int64? {
            let key = BlobKey(scope: room, digest: digest)
            return try store.database.writer.read { try BlobTable(db: $0).lastUse(key) }
        }
        time.withLock { $0 = 60_999 }
        _ = try await store.blobs.read(digest, in: room)
        #expect(try lastUse() == 1_000)
        time.withLock { $0 = 61_000 }
        _ = try await store.blobs.read(digest, in: room)
        #expect(try lastUse() == 61_000)
    }

    @Test func `the name of a scope is encoded whole`() {
        let digest = BlobDigest(of: Data())
        let target = BlobServer.target(BlobKey(scope: ScopeID("a b/ä&scope=x#?%+"), digest: digest))
        #expect(target == "/v1/blobs/\(digest)?scope=a%20b%2F%C3%A4%26scope%3Dx%23%3F%25%2B")
    }
}

extension SyncStore {
    fileprivate func statusNow(_ digest: BlobDigest, _ scope: ScopeID) async throws -> BlobStatus? {
        for try await status in blobs.status(of: digest, in: scope) { return status }
        return nil
    }
}
