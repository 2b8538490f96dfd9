import Foundation
import NIOPosix
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// `tidemark devices` against running servers.
@Suite(.timeLimit(.minutes(5))) struct DevicesProcessTests {
    private func devices(_ server: LiveServer, _ words: String...) async throws -> Binary.Outcome {
        try await Binary.run(
            ["devices"] + words
                + [
                    "--workspace", LiveServer.workspace.text, "--server", "http://\(server.address)", "--secret-file",
                    try server.secretFile(),
                ])
    }

    @Test func `a device is listed, revoked, and forgotten`() async throws {
        let server = try await LiveServer.start()
        let (phone, tablet) = (RawClient(server, user: "ann"), RawClient(server, user: "ann"))
        let (open, _) = try await phone.connect(1, isNew: true)
        let (other, _) = try await tablet.connect(1, isNew: true)
        let before = try await devices(server, "list", "--user", "ann")
        #expect(before.status == 0 && before.text.split(separator: "\n").count == 2, "\(before.text)")
        let told = try await devices(server, "revoke", "\(phone.id)")
        #expect(told.status == 0 && told.text.contains("signed out of tests"), "\(told.text)")
        #expect(try await Self.closeCode(open) == 4403)
        let after = try await devices(server, "list").text.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(after.first { $0[0] == "\(phone.id)" }?[6].hasPrefix("20") == true, "\(after)")
        #expect(after.first { $0[0] == "\(tablet.id)" }?[6] == "-", "\(after)")
        #expect(after.allSatisfy { $0.count == 9 && $0[7] == "-" && $0[8] == "0" }, "\(after)")
        let purged = try await devices(server, "purge", "\(tablet.id)")
        #expect(purged.status == 0, "\(purged.text)")
        let code = try await Self.closeCode(other)
        #expect(code == 4403 || code == 4410)
        let rest = try await devices(server, "list")
        #expect(rest.text.split(separator: "\n").count == 1)
        let unknown = try await devices(server, "revoke", "\(tablet.id)")
        #expect(unknown.status == 1 && unknown.text.contains("no such client"), "\(unknown.text)")
        #expect(try await devices(server, "revoke", "--all", "--user", "ann").status == 64)
        #expect(try await devices(server, "revoke", "--user", "ann").status == 0)
        #expect(try await devices(server, "revoke", "--all").status == 0)
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a user sees their own devices in the app, and signs a lost one out`() async throws {
        let server = try await LiveServer.start()
        let folder = try TemporaryFolder("tidemark-devices")
        func open(_ name: String) async throws -> SyncStore {
            let store = try await SyncStore.open(
                account: UserID("ann"), at: URL(filePath: "\(folder.path)/\(name)"),
                schema: Schema(json: ChatSchema.document))
            try store.connect(to: "http://\(server.address)", transport: NIOTransport()) { try server.token("ann") }
            _ = try await store.syncNow()
            return store
        }
        let (phone, laptop) = (try await open("phone"), try await open("laptop"))
        let devices = try await laptop.devices()
        #expect(devices.count == 2 && devices.map(\.isThisDevice) == [true, false])
        #expect(devices.allSatisfy { $0.isConnected && $0.pending == 0 && $0.lag == 0 && $0.signedOutAt == nil })
        let ended = Task { () -> SyncFailure.Code in
            for await status in phone.status {
                if case .rejected(let reason) = status.connection { return reason.code }
            }
            return .goingAway
        }
        try await laptop.signOut(device: devices[1].id)
        #expect(await ended.value == .forbidden)
        #expect(try await laptop.devices()[1].signedOutAt != nil)
        let unknown = await #expect(throws: DeviceError.self) {
            try await laptop.signOut(device: "018f3a2b-0000-7000-8000-000000000001")
        }
        #expect(unknown?.code == .notThere)
        try await laptop.signOutEverywhere()
        for await status in laptop.status { if case .rejected = status.connection { break } }
        await phone.disconnect()
        await laptop.disconnect()
        #expect(try await server.process.stop() == 0)
    }

    /// Two servers on one PostgreSQL.
    @Test(.enabled(if: TestPostgres.uri != nil))
    func `a device revoked at one server is signed out at the other as well`() async throws {
        let one = try await LiveServer.start(database: TestPostgres.uri)
        let other = try await one.another()
        let phone = RawClient(other, user: "ann-\(UUID().uuidString)")
        let (open, _) = try await phone.connect(1, isNew: true)
        let token = try other.token(phone.user)
        let revoked = try await Self.call(one, "/v1/revocations", #"{"client":"\#(phone.id)"}"#, token)
        #expect(revoked.status == 200)
        #expect(try await Self.closeCode(open) == 4403)
        for (path, body) in [("/v1/pull", #"{"client":"\#(phone.id)"}"#), ("/v1/pull", #"{"scopes":[]}"#)] {
            #expect(try await Self.call(other, path, body, token).status == 401)
        }
        #expect(try await one.process.stop() == 0)
        #expect(try await other.process.stop() == 0)
    }

    private static func call(
        _ server: LiveServer, _ path: String, _ body: String, _ token: String
    ) async throws -> NIOHTTPAnswer {
        try await NIOHTTPClient.request(
            method: "POST", host: server.address.host, port: server.address.port, path: path, useTLS: false,
            headers: [("Authorization", "Bearer \(token)")], body: Array(body.utf8),
            group: MultiThreadedEventLoopGroup.singleton)
    }

    private static func closeCode(_ connection: RawConnection) async throws -> UInt16 {
        do {
            while true { _ = try await connection.socket.receive() }
        } catch let closed as TidemarkNIOTransport.TransportClosed {
            return closed.code
        }
    }
}
