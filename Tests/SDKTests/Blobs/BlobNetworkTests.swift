import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Blobs restricted to some kinds of network, with the store's own engine and courier.
@Suite(.timeLimit(.minutes(5))) struct BlobNetworkTests {
    private let server = BlobShelf()
    private let room = ScopeID(record: RecordKey.room(1).id)
    private let photo = Data(repeating: 7, count: 5_000)
    private let system: AsyncStream<NetworkPath>.Continuation
    private let store: SyncStore

    init() throws {
        let (paths, system) = AsyncStream.makeStream(of: NetworkPath.self)
        self.system = system
        var environment = StoreEnvironment.counting()
        environment.networkPaths = { paths }
        var limits = LocalLimits()
        limits.cache.blobs.networks = [.wifi, .wired]
        let database = try LocalDatabase.inMemory(
            account: Bench.user, schema: try TestSchema.schema(), newClient: Bench.client, limits: limits)
        store = SyncStore(database: database, environment: environment)
        server.messages.grant([room])
    }

    private func move(to kind: NetworkKind?) async {
        system.yield(NetworkPath(isReachable: true, interfaces: [kind?.rawValue ?? ""], kind: kind))
        for await status in store.status where status.network == kind { break }
    }

    @Test func `over the mobile network blobs wait and records do not, and the status says so`() async throws {
        let elsewhere = server.put(Data("theirs".utf8), in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        await move(to: .cellular)
        let digest = try await store.blobs.add(photo, in: room)
        try await store.repository(Note.self).create(Note(room: UUID(), text: "a"))
        for await status in store.status
        where status.connection == .live && status.pending == 0 && status.unsentBlobs == 1 {
            #expect(status.isHoldingBlobs && status.network == .cellular)
            #expect(status.activity == .upToDate, "nothing is under way")
            break
        }
        #expect(try await store.syncNow().unsentBlobs == 1)
        let error = await #expect(throws: BlobError.self) { try await store.blobs.read(elsewhere, in: room) }
        #expect(error?.code == .otherNetwork)
        #expect(server.calls.isEmpty)
        // Both are made up for on Wi-Fi, without a call of the app.
        let looks = store.blobs.observe(elsewhere, in: room)
        let look = Task {
            for try await look in looks {
                if case .here(let bytes) = look { return bytes }
            }
            return Data()
        }
        await move(to: .wifi)
        for try await status in store.blobs.status(of: digest, in: room) where status == .held { break }
        #expect(try await look.value == Data("theirs".utf8))
        #expect(server.puts == 1 && !store.currentStatus.isHoldingBlobs)
        await store.disconnect()
        #expect(store.currentStatus.network == nil)
    }

    @Test(arguments: [NetworkKind.wired, nil]) func `a cable carries them, and so does an unknown network`(
        _ kind: NetworkKind?
    ) async throws {
        let digest = try await store.blobs.add(photo, in: room)
        try store.connect(to: "http://test", transport: server) { "t" }
        await move(to: kind)
        for try await status in store.blobs.status(of: digest, in: room) where status == .held { break }
        await store.disconnect()
    }
}
