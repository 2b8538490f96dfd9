import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore

@testable import TidemarkAssembly
@testable import TidemarkNode

/// Blobs of a user with a revoked device.
@Suite(.timeLimit(.minutes(5))) struct BlobRevocationTests {
    private static let bytes = BlobRoom.bytes(1_000)

    @Test
    func `a revoked device has no access, a call naming another device has, and one naming an unknown device has not`()
        async throws
    {
        let store = InMemoryStore()
        try await BlobRoom.running(over: store) { room in
            #expect(try await room.call("PUT", Self.bytes).status == 201)
            let path = BlobRoom.path(BlobRoom.digest(Self.bytes).text)
            let (phone, tablet) = (UniqueID(high: 5, low: 1), Sample.id(1))
            #expect(
                try await room.server.post("/v1/clients", as: "ann", body: #"{"client":"\#(phone)"}"#).status == 200)
            // Later than the issue of any token that the test makes.
            let time = ServerAssembly.Surroundings().now() + 3_600_000
            _ = try await store.revoke(
                .client(phone, of: UserID("ann")), before: time, in: WorkspaceID("w"), now: time)
            await room.server.node.followRevocations()
            for method in ["GET", "HEAD", "PUT"] {
                for (client, status) in [("", 401), ("&client=\(phone)", 401), ("&client=\(Sample.id(77))", 409)] {
                    let answer = try await room.call(method, Self.bytes, path: path + client)
                    #expect(answer.status == status, "\(method) \(client)")
                }
                #expect(try await room.call(method, Self.bytes, path: path + "&client=\(tablet)").status == 200)
                #expect(try await room.call(method, Self.bytes, path: path + "&client=1").status == 400)
                // Nothing of this other user is revoked: the named device is not looked up.
                let other = try await room.call(method, Self.bytes, as: "bob", path: path + "&client=\(tablet)")
                #expect(other.status == 200)
            }
        }
    }
}
