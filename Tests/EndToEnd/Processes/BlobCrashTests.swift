import Crypto
import NIOPosix
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// Blobs of a server that is killed.
@Suite(.serialized) struct BlobCrashTests {
    private static let uploads = 12
    private static let blobBytes = 3_000_000

    @Test(.timeLimit(.minutes(5)))
    func `a blob on a SQLite file that was answered survives a kill, and no other exists in part`() async throws {
        try await storm(over: nil)
    }

    @Test(.enabled(if: TestPostgres.uri != nil, "TIDEMARK_TEST_POSTGRES names no database"), .timeLimit(.minutes(5)))
    func `a blob on PostgreSQL that was answered survives a kill, and no other exists in part`() async throws {
        try await storm(over: TestPostgres.uri)
    }

    private func storm(over database: String?) async throws {
        var server = try await LiveServer.start(database: database)
        let conversation = LoadTarget.newClient()
        let (opening, _) = try await RawClient(server, user: "ann").connect(1, isNew: true)
        try await opening.push(
            Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann"]))]))
        _ = try await opening.settled(through: 1)
        let blobs = (0..<Self.uploads).map { _ in Photo(bytes: Self.blobBytes, in: conversation) }
        let answered = await answered(of: blobs, by: server)
        #expect(answered.count >= 3 && answered.count < Self.uploads)
        server = try await server.started()
        for photo in blobs {
            let got = try await photo.call("GET", to: server)
            let isAnswered = answered.contains { $0.digest == photo.digest }
            #expect(got.status == 200 || (got.status == 404 && !isAnswered), "\(got.status)")
            if got.status == 200 { #expect(got.body == photo.bytes) }
            #expect(try await photo.call("PUT", to: server).status == (got.status == 200 ? 200 : 201))
            #expect(try await photo.call("GET", to: server).body == photo.bytes)
        }
        #expect(try await server.process.stop() == 0)
    }

    /// The blobs that the server answered. It is killed after the third answer, in the middle of others.
    private func answered(of blobs: [Photo], by server: LiveServer) async -> [Photo] {
        await withTaskGroup(of: Photo?.self) { group in
            var answered: [Photo] = []
            var waiting = blobs.makeIterator()
            for photo in blobs.prefix(3) {
                _ = waiting.next()
                group.addTask { await photo.isKept(by: server) }
            }
            while let photo = await group.next() {
                if let photo { answered.append(photo) }
                if answered.count == 3, server.process.isRunning { await server.process.kill() }
                if let photo = waiting.next() { group.addTask { await photo.isKept(by: server) } }
            }
            return answered
        }
    }
}

/// Random bytes for a conversation of ann's.
private struct Photo: Sendable {
    let bytes: [UInt8]
    let digest: BlobDigest
    private let path: String

    init(bytes count: Int, in conversation: LocalID) {
        var generator = SystemRandomNumberGenerator()
        let words = (0..<count / 8).map { _ in generator.next() }
        bytes = words.withUnsafeBytes { Array($0) }
        digest = BlobDigest(sha256: SHA256.hash(data: bytes))
        path = "/v1/blobs/\(digest)?scope=\(ScopeID(record: conversation))"
    }

    func call(_ method: String, to server: LiveServer) async throws -> NIOHTTPAnswer {
        try await NIOHTTPClient.request(
            method: method, host: server.address.host, port: server.address.port, path: path, useTLS: false,
            headers: [("Authorization", "Bearer \(try server.token("ann"))")], body: method == "PUT" ? bytes : [],
            group: MultiThreadedEventLoopGroup.singleton)
    }

    /// Returns itself once the server has answered that it is stored; `nil` when the server died before.
    func isKept(by server: LiveServer) async -> Photo? {
        do {
            return try await call("PUT", to: server).status == 201 ? self : nil
        } catch {
            return nil
        }
    }
}
