import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly

@Suite(.timeLimit(.minutes(5))) struct BlobRefusalTests {
    private static let bytes = BlobRoom.bytes(1_000)
    private static let digest = BlobRoom.digest(bytes).text

    @Test(arguments: ["PUT", "GET", "HEAD"])
    func `a call needs a token`(method: String) async throws {
        try await BlobRoom.running { room in
            let none = try await room.call(method, Self.bytes, as: nil)
            #expect(none.status == 401 && none.header("www-authenticate") == #"Bearer realm="tidemark""#)
            let wrong = try await room.call(method, Self.bytes, as: nil, headers: [("Authorization", "Bearer x")])
            #expect(wrong.status == 401)
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test(arguments: [
        "/v1/blobs/\(digest.uppercased())?scope=room", "/v1/blobs/\(digest.dropLast())?scope=room",
        "/v1/blobs/\(digest)0?scope=room", "/v1/blobs/x?scope=room", "/v1/blobs/\(digest)",
        "/v1/blobs/\(digest)?scope=", "/v1/blobs/\(digest)?scope", "/v1/blobs/\(digest)?scope=a&scope=a",
        "/v1/blobs/\(digest)?scope=%zz", "/v1/blobs/\(digest)?scope=%00", "/v1/blobs/\(digest)?scope=%ff",
        "/v1/blobs/\(digest)?Scope=room", "/v1/blobs/\(digest)?scope=\(String(repeating: "x", count: 129))",
    ])
    func `an address without a digest or one scope is 400 and says what is missing`(path: String) async throws {
        try await BlobRoom.running { room in
            for method in ["PUT", "GET"] {
                let answer = try await room.call(method, Self.bytes, path: path)
                #expect(answer.status == 400, "\(method) \(path)")
                #expect(answer.text.hasPrefix(#"{"code":"invalid","msg":"blob: the address needs "#))
            }
        }
    }

    @Test func `a missing blob and another user's blob are the same 404`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            let elsewhere = BlobRoom.path(Self.digest, in: Sample.scope(99).text)
            let refused = [
                try await room.call("PUT", Self.bytes, as: "eve"), try await room.call("GET", Self.bytes, as: "eve"),
                try await room.call("PUT", Self.bytes, path: elsewhere),
                try await room.call("GET", Self.bytes, path: elsewhere),
                try await room.call("GET", BlobRoom.bytes(999)),
            ]
            for answer in refused {
                #expect(answer.status == 404)
                #expect(answer.text == #"{"code":"not_found","msg":"blob: no such blob or scope for you"}"#)
            }
        }
    }

    @Test func `knowing a digest gives a user no access to the bytes, not even in a scope of their own`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            try await room.push(2, Sample.conversation(30, of: "ann", "eve"))
            let own = BlobRoom.path(Self.digest, in: Sample.scope(30).text)
            #expect(try await room.call("GET", Self.bytes, as: "eve", path: own).status == 404)
            let without = try await room.call("PUT", [], as: "eve", path: own)
            #expect(without.status == 422)
            #expect(try await room.call("GET", Self.bytes, as: "eve", path: own).status == 404)
            #expect(try await room.call("PUT", Self.bytes, as: "eve", path: own).status == 201)
            #expect(try await room.call("GET", Self.bytes, as: "eve", path: own).body == Self.bytes)
        }
    }

    @Test func `a removed member can neither get nor put any more`() async throws {
        try await BlobRoom.running { room in
            #expect(try await room.call("PUT", Self.bytes, as: "bob").status == 201)
            #expect(try await room.call("GET", Self.bytes, as: "bob").status == 200)
            try await room.removeBob()
            #expect(try await room.call("GET", Self.bytes, as: "bob").status == 404)
            #expect(try await room.call("HEAD", Self.bytes, as: "bob").status == 404)
            #expect(try await room.call("PUT", Self.bytes, as: "bob").status == 404)
            #expect(try await room.call("GET", Self.bytes).status == 200)
        }
    }

    @Test func `bytes that do not match the digest are 422 and leave nothing`() async throws {
        try await BlobRoom.running { room in
            let wrong = try await room.call("PUT", BlobRoom.bytes(999), path: BlobRoom.path(Self.digest))
            #expect(wrong.status == 422 && wrong.text.hasPrefix(#"{"code":"digest_mismatch","msg":"blob: "#))
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `a byte too many is 413, and a blob of the maximal size is stored`() async throws {
        try await BlobRoom.running(limits: ["BLOB_BYTES": "1000"]) { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            let large = try await room.call("PUT", BlobRoom.bytes(1_001))
            #expect(large.status == 413)
            #expect(large.text == #"{"code":"too_large","msg":"blob: more than 1000 bytes; send a smaller one"}"#)
            #expect(try await room.usage() == BlobUsage(blobs: 1, bytes: 1_000))
        }
    }

    @Test func `blobs may be larger than messages, and bodies of other calls may not`() async throws {
        try await BlobRoom.running(limits: ["MESSAGE_BYTES": "4096", "BLOB_BYTES": "100000"]) { room in
            #expect(try await room.call("PUT", BlobRoom.bytes(100_000)).status == 201)
            let push = try await room.server.post("/v1/push", as: "ann", body: String(repeating: "x", count: 4_097))
            #expect(push.status == 413)
        }
    }

    @Test func `a full workspace is 507, and its blobs remain`() async throws {
        var limits = StoreLimits()
        limits.blobBytesPerWorkspaceMax = 1_500
        try await BlobRoom.running(blobs: InMemoryBlobStore(BlobTables(limits: limits))) { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            let full = try await room.call("PUT", BlobRoom.bytes(501))
            #expect(full.status == 507 && full.text.hasPrefix(#"{"code":"quota","msg":"blob: "#))
            #expect(try await room.call("PUT", BlobRoom.bytes(500)).status == 201)
            #expect(try await room.call("GET", Self.bytes).body == Self.bytes)
        }
    }

    @Test func `uploads and downloads are bounded in rate, each user separately`() async throws {
        let change: (inout ServerLimits) -> Void = {
            // Used tokens of the rate do not return, however long the test runs.
            $0.node.blobs.uploadsPerSecond = 0
            $0.node.blobs.uploadsBurst = 2
            $0.node.blobs.downloadsPerSecond = 0
            $0.node.blobs.downloadsBurst = 3
        }
        try await BlobRoom.running(change: change) { room in
            for (method, burst) in [("PUT", 2), ("GET", 3)] {
                for _ in 0..<burst { #expect(try await room.call(method, Self.bytes).status < 300) }
                let limited = try await room.call(method, Self.bytes)
                #expect(limited.status == 429 && limited.text.contains(#""code":"rate_limited""#))
                #expect(limited.header("retry-after") == "2")
                #expect(try await room.call(method, Self.bytes, as: "bob").status < 300)
            }
        }
    }

    @Test func `without blobs the address does not exist and no limit is announced`() async throws {
        try await BlobRoom.running(limits: ["BLOB_BYTES": "0"]) { room in
            for method in ["PUT", "GET"] {
                let answer = try await room.call(method, Self.bytes)
                #expect(answer.status == 404 && answer.text == #"{"code":"not_found","msg":"no such address"}"#)
            }
            #expect(try await !room.server.call("GET", "/v1/info").text.contains("blob_bytes"))
        }
    }

    @Test func `a store that does not answer is 503`() async throws {
        let store = FaultyStore()
        try await BlobRoom.running(over: store) { room in
            store.faults.withLock { $0.sessionsLost = 1 }
            let lost = try await room.call("PUT", Self.bytes)
            #expect(lost.status == 503 && lost.text.contains(#""code":"unavailable""#))
            #expect(try await room.call("PUT", Self.bytes).status == 201)
        }
    }
}
