import Testing
import TidemarkEdge
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore

@testable import TidemarkAssembly

/// Uploads and downloads that fail or are interrupted.
@Suite(.timeLimit(.minutes(5))) struct BlobTransferTests {
    private static let bytes = BlobRoom.bytes(300_000)
    private static let digest = BlobRoom.digest(bytes)

    @Test func `an upload without a length is 411`() async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Transfer-Encoding: chunked"))
                try await call.send("5\r\nhello\r\n0\r\n\r\n")
                call.finish()
                let answer = try await call.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 411 ") && answer.contains(#""code":"length_required""#))
            }
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `an upload announced as too large is refused before a byte is sent`() async throws {
        try await BlobRoom.running(limits: ["BLOB_BYTES": "1000"]) { room in
            for length in ["1001", "99999999999", "9223372036854775808"] {
                try await RawCall.connected(to: room.server.port) { call in
                    try await call.send(try room.head(Self.digest, "Content-Length: \(length)"))
                    let answer = try await call.readToEnd()
                    #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("more than 1000 bytes"))
                    call.finish()
                }
            }
        }
    }

    @Test func `a user who is not a member is refused before a byte is sent`() async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300000", as: "eve"))
                #expect(try await call.read().hasPrefix("HTTP/1.1 404 "))
            }
        }
    }

    @Test(arguments: ["-1", "x", "10, 20", "18446744073709551616"])
    func `an invalid length is 400`(length: String) async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: \(length)"))
                call.finish()
                #expect(try await call.readToEnd().hasPrefix("HTTP/1.1 400 "))
            }
        }
    }

    @Test func `an upload that is cut leaves nothing, and its slot is free again`() async throws {
        try await BlobRoom.running(limits: ["BLOB_UPLOADS": "1"]) { room in
            for part in [0, 1, 150_000, 299_999] {
                try await RawCall.connected(to: room.server.port) { call in
                    try await call.send(try room.head(Self.digest, "Content-Length: 300000"))
                    try await call.send(Array(Self.bytes.prefix(part)))
                    try await room.uploads(are: 1)
                }
                try await room.uploads(are: 0)
            }
            #expect(try await room.usage() == BlobUsage())
            #expect(try await room.call("PUT", Self.bytes).status == 201)
        }
    }

    @Test func `a peer that ends its half too early is answered and leaves nothing`() async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300001"))
                try await call.send(Self.bytes)
                call.finish()
                #expect(try await !call.readToEnd().contains(" 201 "))
            }
            try await room.uploads(are: 0)
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `a byte beyond the announced length belongs to no blob`() async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(BlobRoom.digest(Self.bytes + [0]), "Content-Length: 300000"))
                try await call.send(Self.bytes + [0])
                call.finish()
                #expect(try await !call.readToEnd().contains(" 201 "))
            }
            try await room.uploads(are: 0)
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `a slow upload is closed and leaves nothing`() async throws {
        try await BlobRoom.running(change: { $0.edge.bodyDeadline = .milliseconds(100) }) { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300000"))
                try await call.send(Array(Self.bytes.prefix(10)))
                #expect(try await call.readToEnd() == "")
            }
            try await room.uploads(are: 0)
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `more uploads at once than there are slots for, in total or for one user, are 429`() async throws {
        let change: (inout ServerLimits) -> Void = {
            $0.node.blobs.uploadsMax = 2
            $0.node.blobs.uploadsPerUserMax = 1
        }
        try await BlobRoom.running(change: change) { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300000"))
                try await room.uploads(are: 1)
                let limited = try await room.call("PUT", Self.bytes)
                #expect(limited.status == 429 && limited.text.contains("too many uploads at once"))
                #expect(limited.header("retry-after") == "1")
                #expect(try await room.call("PUT", Self.bytes, as: "bob").status == 201)
                try await call.send(Self.bytes)
                #expect(try await call.read().hasPrefix("HTTP/1.1 200 "))
            }
            #expect(try await room.call("PUT", Self.bytes).status == 200)
        }
    }

    @Test func `a member removed during an upload leaves nothing`() async throws {
        try await BlobRoom.running { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300000", as: "bob"))
                try await call.send(Array(Self.bytes.prefix(1_000)))
                try await room.uploads(are: 1)
                try await room.removeBob()
                try await call.send(Array(Self.bytes.dropFirst(1_000)))
                #expect(try await call.read().hasPrefix("HTTP/1.1 404 "))
            }
            #expect(try await room.usage() == BlobUsage())
        }
    }

    @Test func `an upload in progress is finished while the server stops`() async throws {
        let store = InMemoryBlobStore()
        try await BlobRoom.running(blobs: store) { room in
            try await RawCall.connected(to: room.server.port) { call in
                try await call.send(try room.head(Self.digest, "Content-Length: 300000"))
                try await room.uploads(are: 1)
                await room.server.stop()
                try await eventually { room.server.node.isDraining }
                try await call.send(Self.bytes)
                #expect(try await call.readToEnd().hasPrefix("HTTP/1.1 201 "))
            }
        }
        #expect(try await store.usage(of: WorkspaceID("w")).blobs == 1)
    }

    @Test func `a download that the store cuts short has no regular end`() async throws {
        try await BlobRoom.running(blobs: TornBlobStore()) { room in
            await #expect(throws: NIOTransportError.self) { try await room.call("GET", Self.bytes) }
            try await eventually { room.server.node.blobs.counts.downloads == 0 }
        }
    }
}

extension BlobRoom {
    /// Waits until the server has so many uploads in progress.
    fileprivate func uploads(are count: Int) async throws {
        try await eventually { server.node.blobs.counts.uploads == count }
    }
}

/// A store that loses the second part of every blob.
private struct TornBlobStore: BlobStore {
    func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID, by user: UserID, now: Milliseconds
    ) async throws(StoreError) -> BlobReceipt { .kept }

    func size(of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID) async throws(StoreError) -> Int? {
        300_000
    }

    func part(
        of digest: BlobDigest, from start: Int, in scope: ScopeID, of workspace: WorkspaceID
    ) async throws(StoreError) -> [UInt8]? {
        guard start == 0 else { throw StoreError(.unavailable, "switched off") }
        return BlobRoom.bytes(100_000)
    }

    func usage(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage { BlobUsage() }
}

/// Nothing is forgotten or erased.
extension TornBlobStore {
    func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob] { [] }
    func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int { 0 }
    func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage { BlobUsage() }
    func keepAll(of workspace: WorkspaceID, now: Milliseconds, limit: Int) async throws(StoreError) -> Int { 0 }
    func isSharedWithOlder() async throws(StoreError) -> Bool { false }
    func giveBackBlobs(pages: Int) async throws(StoreError) -> Int { 0 }
    func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        BlobUsage()
    }
    func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage { BlobUsage() }
    func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage { BlobUsage() }
    func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage { BlobUsage() }
    func scrubBlobs() async throws(StoreError) {}
}
