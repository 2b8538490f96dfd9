import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct BlobCallTests {
    private static let bytes = BlobRoom.bytes(600_000)
    private static let digest = BlobRoom.digest(bytes)

    @Test(arguments: [
        ("bytes=0-9", 0..<10), ("bytes=262140-262150", 262_140..<262_151), ("bytes=299990-", 299_990..<300_000),
        ("bytes=-5", 299_995..<300_000), ("bytes=299999-400000", 299_999..<300_000), ("bytes=-400000", 0..<300_000),
        ("bytes=1-18446744073709551616", 1..<300_000),
    ])
    func `a requested part of a blob is returned`(_ field: String, _ part: Range<Int>) async throws {
        let bytes = BlobRoom.bytes(300_000)
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", bytes).status == 201)
            let answer = try await room.call("GET", bytes, headers: [("Range", field)])
            #expect(answer.status == 206 && answer.body == Array(bytes[part]))
            let fields = Dictionary(answer.headers.map { ($0.0.lowercased(), $0.1) }) { $1 }
            #expect(fields["content-range"] == "bytes \(part.lowerBound)-\(part.upperBound - 1)/300000")
            let tag = try #require(fields["etag"])
            let same = try await room.call("GET", bytes, headers: [("Range", field), ("If-Range", tag)])
            #expect(same.status == 206)
            let other = try await room.call("GET", bytes, headers: [("Range", field), ("If-Range", "\"x\"")])
            #expect(other.status == 200 && other.body == bytes)
        }
    }

    @Test func `a part that begins after the end is 416, and anything but one range returns the whole blob`()
        async throws
    {
        let bytes = BlobRoom.bytes(1_000)
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", bytes).status == 201)
            for field in ["bytes=1000-", "bytes=1000-1001", "bytes=-0"] {
                let answer = try await room.call("GET", bytes, headers: [("Range", field)])
                #expect(answer.status == 416, "\(field)")
                #expect(answer.headers.contains { $0.0.lowercased() == "content-range" && $0.1 == "bytes */1000" })
            }
            for field in ["bytes=0-1,3-4", "bytes=5-2", "bytes=x-1", "lines=0-1", "bytes", "bytes=1", "bytes=--1"] {
                let answer = try await room.call("GET", bytes, headers: [("Range", field)])
                #expect(answer.status == 200 && answer.body == bytes, "\(field)")
            }
        }
    }

    @Test func `stored bytes are returned to every member, with their headers`() async throws {
        try await BlobRoom.running { room in
            let put = try await room.call("PUT", Self.bytes)
            #expect(put.status == 201 && put.text == #"{"digest":"\#(Self.digest)","size":600000}"#)
            let got = try await room.call("GET", Self.bytes, as: "bob")
            #expect(got.status == 200 && got.body == Self.bytes)
            #expect(got.header("content-type") == "application/octet-stream")
            #expect(got.header("content-length") == "600000")
            #expect(got.header("etag") == "\"\(Self.digest)\"")
            #expect(got.header("cache-control") == "private, max-age=31536000, immutable")
            #expect(got.header("x-content-type-options") == "nosniff")
        }
    }

    @Test func `storing the same bytes again, by any user, is 200 and keeps one copy`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            for user in ["ann", "bob"] {
                let again = try await room.call("PUT", Self.bytes, as: user)
                #expect(again.status == 200 && again.text == #"{"digest":"\#(Self.digest)","size":600000}"#)
            }
            #expect(try await room.usage() == BlobUsage(blobs: 1, bytes: 600_000))
        }
    }

    @Test func `a HEAD request returns the size and no bytes`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("HEAD", Self.bytes).status == 404)
            _ = try await room.call("PUT", Self.bytes)
            let look = try await room.call("HEAD", Self.bytes)
            #expect(look.status == 200 && look.body.isEmpty)
            #expect(look.header("content-length") == "600000" && look.header("etag") == "\"\(Self.digest)\"")
        }
    }

    @Test(arguments: [
        ("\"\(digest)\"", 304), ("W/\"\(digest)\"", 304), ("*", 304), ("\"x\", \"\(digest)\"", 304), ("\"x\"", 200),
        ("\(digest)", 200),
    ])
    func `bytes that the client has already are not sent again`(known: String, status: Int) async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("GET", Self.bytes, headers: [("If-None-Match", known)]).status == 404)
            _ = try await room.call("PUT", Self.bytes)
            let answer = try await room.call("GET", Self.bytes, headers: [("If-None-Match", known)])
            #expect(answer.status == status && answer.body == (status == 304 ? [] : Self.bytes))
            let stranger = try await room.call("GET", Self.bytes, as: "eve", headers: [("If-None-Match", known)])
            #expect(stranger.status == 404)
        }
    }

    @Test func `zero bytes are a blob too`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", []).status == 201)
            let got = try await room.call("GET", [])
            #expect(got.status == 200 && got.body == [] && got.header("content-length") == "0")
        }
    }

    @Test func `a scope whose name needs encoding is found`() async throws {
        let name = "a b/ü?&=%+"
        let schema = #"""
            {"tidemark": 1, "name": "wall", "collections": {
              "cards": {"scope": {"shared": "\#(name)"}, "create": ["member"], "fields": {"text": "string"}}}}
            """#
        let store = OpenedStoreOfBlobs()
        try await TestServer.running(over: store.opened, schema: try Schema(json: Array(schema.utf8))) { server in
            let room = BlobRoom(server: server, blobs: store.blobs)
            let path = BlobRoom.path(Self.digest.text, in: "a%20b%2F%C3%BC%3F%26%3D%25%2B")
            #expect(try await room.call("PUT", Self.bytes, path: path).status == 201)
            #expect(try await room.call("GET", Self.bytes, as: "bob", path: path).body == Self.bytes)
            let size = try await store.blobs.size(of: Self.digest, in: ScopeID(name), of: WorkspaceID("w"))
            #expect(size == 600_000)
        }
    }

    @Test func `a service puts and gets in every scope`() async throws {
        try await BlobRoom.running { room in
            let token = try room.server.token("backend", isService: true)
            let service = [("Authorization", "Bearer \(token)")]
            #expect(try await room.call("PUT", Self.bytes, as: nil, headers: service).status == 201)
            #expect(try await room.call("GET", Self.bytes).body == Self.bytes)
            #expect(try await room.call("GET", Self.bytes, as: nil, headers: service).body == Self.bytes)
        }
    }

    @Test func `transferred bytes are counted`() async throws {
        try await BlobRoom.running { room in
            for _ in 0..<2 { _ = try await room.call("PUT", Self.bytes) }
            _ = try await room.call("GET", Self.bytes)
            _ = try await room.call("HEAD", Self.bytes)
            _ = try await room.call("GET", Self.bytes, as: "eve")
            _ = try await room.call("PUT", Self.bytes, as: nil)
            let counts = room.server.node.blobs.counts
            #expect(counts.puts == 2 && counts.bytesIn == 1_200_000)
            #expect(counts.gets == 1 && counts.bytesOut == 600_000)
            #expect(counts.refusals == [404: 1, 401: 1])
            #expect(counts.uploads == 0)
        }
    }

    @Test func `the profile contains the maximal size of a blob`() async throws {
        try await BlobRoom.running(limits: ["BLOB_BYTES": "123456"]) { room in
            let profile = try await room.server.call("GET", "/v1/info")
            #expect(profile.text.contains(#""blob_bytes":123456"#))
        }
    }
}

/// A store whose blobs tests can read.
struct OpenedStoreOfBlobs: Sendable {
    let blobs = InMemoryBlobStore()
    var opened: OpenedStore { OpenedStore(InMemoryStore(), blobs: blobs) }
}
