import Foundation
import Testing
import TidemarkEmbeddedStore
import TidemarkModel
import TidemarkStore

@Suite(.timeLimit(.minutes(5))) struct BlobTests {
    private static let sizes = [0, 1, 262_143, 262_144, 262_145, 700_000]

    @Test(arguments: StoreKind.available, sizes)
    func `a blob is returned in parts, unchanged`(_ kind: StoreKind, _ size: Int) async throws {
        try await kind.withStore { under in
            let blob = Blob.filled(with: 7, count: size)
            #expect(try await under.put(blob, in: .a) == .kept)
            #expect(try await under.blobs.size(of: blob.digest, in: .a, of: under.workspace) == size)
            #expect(try await under.bytes(of: blob.digest, in: .a) == blob.bytes)
            for start in [-1, size + 1, size - 2] where start != 0 {
                let part = try await under.blobs.part(of: blob.digest, from: start, in: .a, of: under.workspace)
                #expect(part == nil, "no part begins at \(start)")
            }
        }
    }

    @Test(arguments: StoreKind.available)
    func `a second put changes nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            let blob = Blob.filled(with: 7, count: 300_000)
            try await under.put(blob, in: .a)
            #expect(try await under.put(blob, in: .a, by: .bob) == .wasThere)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 1, bytes: 300_000))
            #expect(try await under.bytes(of: blob.digest, in: .a) == blob.bytes)
        }
    }

    @Test(arguments: StoreKind.available)
    func `another scope cannot read it until the bytes are put there, and then they are stored once`(
        _ kind: StoreKind
    ) async throws {
        try await kind.withStore { under in
            let blob = Blob.filled(with: 7, count: 1_000)
            try await under.put(blob, in: .a)
            #expect(try await under.blobs.size(of: blob.digest, in: .b, of: under.workspace) == nil)
            #expect(try await under.blobs.part(of: blob.digest, from: 0, in: .b, of: under.workspace) == nil)
            #expect(try await under.put(blob, in: .b) == .kept)
            #expect(try await under.bytes(of: blob.digest, in: .b) == blob.bytes)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 1, bytes: 1_000))
        }
    }

    @Test(arguments: StoreKind.available)
    func `workspaces share neither blobs nor quota`(_ kind: StoreKind) async throws {
        try await kind.withStore(limits: .quota(1_000)) { under in
            let other = WorkspaceID(under.workspace.text + "'")
            let blob = Blob.filled(with: 7, count: 1_000)
            try await under.put(blob, in: .a)
            #expect(try await under.blobs.size(of: blob.digest, in: .a, of: other) == nil)
            #expect(try await under.blobs.part(of: blob.digest, from: 0, in: .a, of: other) == nil)
            #expect(try await under.blobs.usage(of: other) == BlobUsage())
            #expect(try await under.put(blob, in: .a, of: other) == .kept)
            #expect(try await under.blobs.usage(of: other) == BlobUsage(blobs: 1, bytes: 1_000))
        }
    }

    @Test(arguments: StoreKind.available)
    func `the quota is exact to the byte, and an excess leaves nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore(limits: .quota(1_000)) { under in
            let half = Blob.filled(with: 1, count: 500)
            let rest = Blob.filled(with: 2, count: 500)
            let beyond = Blob.filled(with: 3, count: 501)
            let tooLarge = try await under.put(Blob.filled(with: 4, count: 1_001), in: .a)
            #expect(tooLarge == .quotaUsedUp)
            #expect(try await under.put(half, in: .a) == .kept)
            #expect(try await under.put(beyond, in: .a) == .quotaUsedUp)
            #expect(try await under.blobs.size(of: beyond.digest, in: .a, of: under.workspace) == nil)
            #expect(try await under.put(rest, in: .a) == .kept)
            #expect(try await under.put(Blob.filled(with: 5, count: 1), in: .a) == .quotaUsedUp)
            // An existing blob needs no space.
            #expect(try await under.put(half, in: .a) == .wasThere)
            #expect(try await under.put(half, in: .b) == .kept)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 2, bytes: 1_000))
        }
    }

    @Test(arguments: StoreKind.available)
    func `the same bytes put concurrently are stored once`(_ kind: StoreKind) async throws {
        try await kind.withStore(limits: .quota(600_000)) { under in
            let blob = Blob.filled(with: 7, count: 600_000)
            let receipts = try await withThrowingTaskGroup { group in
                for number in 0..<8 {
                    group.addTask { try await under.put(blob, in: number.isMultiple(of: 2) ? .a : .b) }
                }
                return try await group.reduce(into: [BlobReceipt]()) { $0.append($1) }
            }
            #expect(receipts.filter { $0 == .kept }.count == 2)
            #expect(receipts.filter { $0 == .wasThere }.count == 6)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 1, bytes: 600_000))
            #expect(try await under.bytes(of: blob.digest, in: .b) == blob.bytes)
        }
    }

    @Test(arguments: StoreKind.available)
    func `concurrent puts do not exceed the quota together`(_ kind: StoreKind) async throws {
        try await kind.withStore(limits: .quota(3_000)) { under in
            let receipts = try await withThrowingTaskGroup { group in
                for number: UInt8 in 0..<8 {
                    group.addTask { try await under.put(Blob.filled(with: number, count: 1_000), in: .a) }
                }
                return try await group.reduce(into: [BlobReceipt]()) { $0.append($1) }
            }
            #expect(receipts.filter { $0 == .kept }.count == 3)
            #expect(try await under.blobs.usage(of: under.workspace) == BlobUsage(blobs: 3, bytes: 3_000))
        }
    }

    @Test(arguments: StoreKind.available)
    func `hostile names are ordinary names`(_ kind: StoreKind) async throws {
        try await kind.withStore { under in
            for (index, name) in IsolationTests.hostile.enumerated() {
                let workspace = WorkspaceID("\(under.workspace.text.suffix(30))\(name)")
                let blob = Blob.filled(with: UInt8(truncatingIfNeeded: index), count: index + 1)
                let receipt = try await under.put(blob, in: ScopeID(name), of: workspace, by: UserID(name))
                #expect(receipt == .kept)
                #expect(try await under.bytes(of: blob.digest, in: ScopeID(name), of: workspace) == blob.bytes)
                #expect(try await under.blobs.usage(of: workspace).blobs == 1)
            }
        }
    }

    @Test func `a file is found by a later process, and only its owner can read it`() async throws {
        let file = TemporaryFile()
        let path = EmbeddedBlobStore.path(besides: file.path)
        #expect(path.hasSuffix("/store.blobs.sqlite"))
        #expect(EmbeddedBlobStore.path(besides: "./a.d/records") == "./a.d/records.blobs")
        let blob = Blob.filled(with: 7, count: 600_000)
        let first = try EmbeddedBlobStore(path: path)
        try await StoreUnderTest(store: InMemoryStore(), blobs: first, workspace: WorkspaceID("w")).put(blob, in: .a)
        let error = #expect(throws: StoreError.self) { try EmbeddedBlobStore(path: path) }
        #expect(error?.reason.contains("another server uses") == true)
        try first.close()
        let again = try EmbeddedBlobStore(path: path)
        let under = StoreUnderTest(store: InMemoryStore(), blobs: again, workspace: WorkspaceID("w"))
        #expect(try await under.bytes(of: blob.digest, in: .a) == blob.bytes)
        #expect(try await again.usage(of: under.workspace) == BlobUsage(blobs: 1, bytes: 600_000))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try again.close()
        try file.remove()
    }
}

extension Blob {
    /// A blob with bytes that differ along it. The digest is invented, since a store trusts its caller.
    static func filled(with seed: UInt8, count: Int) -> Blob {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) &+ seed }
        var sum = UInt64(seed) &+ UInt64(count) << 8
        let digest = (0..<32).map { _ in
            sum = sum &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: sum >> 33)
        }
        return Blob(digest: BlobDigest(sha256: digest), bytes: bytes)
    }
}

extension StoreLimits {
    fileprivate static func quota(_ bytes: Int64) -> StoreLimits {
        var limits = StoreLimits()
        limits.blobBytesPerWorkspaceMax = bytes
        return limits
    }
}

extension StoreUnderTest {
    @discardableResult
    func put(
        _ blob: Blob, in scope: ScopeID, of workspace: WorkspaceID? = nil, by user: UserID = .ann
    ) async throws -> BlobReceipt {
        try await blobs.put(blob, in: scope, of: workspace ?? self.workspace, by: user, now: 1_000)
    }

    /// All parts, one after the other; `nil` when the scope has no such blob.
    fileprivate func bytes(
        of digest: BlobDigest, in scope: ScopeID, of workspace: WorkspaceID? = nil
    ) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            let part = try await blobs.part(of: digest, from: bytes.count, in: scope, of: workspace ?? self.workspace)
            guard let part else { return nil }
            if part.isEmpty { return bytes }
            bytes += part
        }
    }
}
