import Crypto
import NIOPosix
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// A server with a conversation of ann and bob.
struct BlobRoom: Sendable {
    static let scope = Sample.scope(10)

    let server: TestServer
    let blobs: any BlobStore

    static func running(
        over records: any MemoryServing = InMemoryStore(), blobs: any BlobStore = InMemoryBlobStore(),
        limits: [String: String] = [:], change: (inout ServerLimits) -> Void = { _ in },
        _ body: @Sendable (BlobRoom) async throws -> Void
    ) async throws {
        let store = OpenedStore(records, blobs: blobs)
        try await TestServer.running(over: store, limits: limits, change: change) { server in
            let client = #"{"client":"\#(Sample.id(1))"}"#
            #expect(try await server.post("/v1/clients", as: "ann", body: client).status == 200)
            let room = BlobRoom(server: server, blobs: blobs)
            try await room.push(1, Sample.conversation(10, of: "ann", "bob"))
            try await body(room)
        }
    }

    /// Pushes Ann's transaction with that number.
    func push(_ number: Int64, _ transaction: Transaction) async throws {
        let push = Push(first: number, ackedThrough: number - 1, entries: [Push.Entry(transaction)])
        let call = PushCall(client: Sample.id(1), connection: 1, push: push)
        let answer = try await server.post(
            "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
        #expect(try PushAnswer.decode(answer.body).outcomes.map(\.rejection) == [nil])
    }

    func removeBob() async throws { try await push(2, Sample.removal(20, of: "bob", from: 10)) }

    static func digest(_ bytes: [UInt8]) -> BlobDigest { BlobDigest(sha256: SHA256.hash(data: bytes)) }

    /// Bytes that differ along the blob.
    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    static func path(_ digest: String, in scope: String = scope.text) -> String { "/v1/blobs/\(digest)?scope=\(scope)" }

    /// Makes one call; the path is that of the bytes unless another is given.
    func call(
        _ method: String, _ bytes: [UInt8], as user: String? = "ann", path: String? = nil, sending: Bool? = nil,
        headers: [(String, String)] = []
    ) async throws -> NIOHTTPAnswer {
        var headers = headers
        if let user { headers.append(("Authorization", "Bearer \(try server.token(user))")) }
        return try await NIOHTTPClient.request(
            method: method, host: "127.0.0.1", port: server.port,
            path: path ?? Self.path(Self.digest(bytes).text), useTLS: false, headers: headers,
            body: sending ?? (method == "PUT") ? bytes : [], maxBodyBytes: 20 << 20,
            group: MultiThreadedEventLoopGroup.singleton)
    }

    /// The blobs of the tests' workspace.
    func usage() async throws -> BlobUsage { try await blobs.usage(of: WorkspaceID("w")) }

    /// The head of an upload, from a client that counts its bytes itself.
    func head(_ digest: BlobDigest, _ length: String, as user: String = "ann") throws -> String {
        "PUT \(Self.path(digest.text)) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(try server.token(user))\r\n"
            + "\(length)\r\n\r\n"
    }
}
