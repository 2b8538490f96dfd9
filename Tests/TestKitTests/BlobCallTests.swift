import Testing
import TidemarkHub
import TidemarkModel

@testable import TidemarkTestKit

@Suite struct BlobCallTests {
    private static let bytes = Array("hello".utf8)
    private static let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    private static let room = LocalID(high: 1, low: 1)

    private func member(_ patch: FieldPatch) -> Mutation {
        Mutation(
            key: RecordKey(collection: "rooms", id: Self.room), action: .update([NamedPatch("people", patch)]))
    }

    @Test func `a kit's blobs are for the members of their scope, and come back with a backup`() throws {
        var server = ServerMachines(schema: try Desk.schema())
        let digest = try #require(BlobDigest(checking: Self.digest))
        let scope = ScopeID(record: Self.room)
        let (ann, bob) = (UserID("ann"), UserID("bob"))
        #expect(throws: BlobRefusal.notFound) { try server.putBlob(Self.bytes, as: digest, in: scope, by: ann) }
        let create = Mutation(
            key: RecordKey(collection: "rooms", id: Self.room), action: .create(["people": ["ann", "bob"]]))
        _ = server.write([create], now: 1)
        #expect(try server.putBlob(Self.bytes, as: digest, in: scope, by: ann))
        #expect(try !server.putBlob(Self.bytes, as: digest, in: scope, by: bob))
        #expect(throws: BlobRefusal.otherDigest) { try server.putBlob([1], as: digest, in: scope, by: ann) }
        let large = [UInt8](repeating: 0, count: 16 * 1_048_576 + 1)
        #expect(throws: BlobRefusal.tooLarge(bytesMax: 16 * 1_048_576)) {
            try server.putBlob(large, as: digest, in: scope, by: ann)
        }
        #expect(try server.getBlob(digest, in: scope, by: bob) == Self.bytes)
        #expect(throws: BlobRefusal.notFound) { try server.getBlob(digest, in: scope, by: UserID("eve")) }
        let backup = server.backup
        _ = server.write([member(.remove(["bob"]))], now: 2)
        #expect(throws: BlobRefusal.notFound) { try server.getBlob(digest, in: scope, by: bob) }
        server.restart(from: backup)
        #expect(try server.getBlob(digest, in: scope, by: bob) == Self.bytes)
    }
}
