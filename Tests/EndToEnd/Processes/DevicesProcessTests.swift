import Foundation
import NIOPosix
import Testing
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
        #expect(after.first { $0[0] == "\(phone.id)" }?.last?.hasPrefix("20") == true, "\(after)")
        #expect(after.first { $0[0] == "\(tablet.id)" }?.last == "-", "\(after)")
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

    /// Two servers on one PostgreSQL: revoked on one, off the other within a second.
    @Test(.enabled(if: TestPostgres.uri != nil))
    func `a device that is revoked at one server is off the other within a second`() async throws {
        let one = try await LiveServer.start(database: TestPostgres.uri)
        let other = try await one.another()
        let phone = RawClient(other, user: "ann-\(UUID().uuidString)")
        let (open, _) = try await phone.connect(1, isNew: true)
        let token = try other.token(phone.user)
        let clock = ContinuousClock()
        let begun = clock.now
        let revoked = try await Self.call(one, "/v1/revocations", #"{"client":"\#(phone.id)"}"#, token)
        #expect(revoked.status == 200)
        #expect(try await Self.closeCode(open) == 4403)
        let took = clock.now - begun
        #expect(took < .seconds(1), "\(took)")
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
        } catch let closed as TransportClosed {
            return closed.code
        }
    }
}
