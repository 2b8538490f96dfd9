import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing
import TidemarkEdge
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

/// The server's own TLS, by real handshakes (R-119).
@Suite(.timeLimit(.minutes(5))) struct TLSServingTests {
    private static func running(
        _ certificate: MadeCertificate, limits: (inout ServerLimits) -> Void = { _ in }, log: LogCapture? = nil,
        _ body: @Sendable (TestServer, CertificateFolder) async throws -> Void
    ) async throws {
        let files = try CertificateFolder(certificate)
        defer { try? files.remove() }
        try await TestServer.running(
            environment: files.settings.merging(TestServer.operated) { $1 }, log: log, change: limits
        ) { server in try await body(server, files) }
    }

    private static func request(_ path: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    }

    private static func isServed(_ server: TestServer, _ files: CertificateFolder) async throws -> Bool {
        let answer = try await NIOHTTPClient.request(
            method: "GET", host: "127.0.0.1", port: server.port, path: "/healthz", useTLS: true,
            group: MultiThreadedEventLoopGroup.singleton, trustRootsFile: files.chainFile.path)
        return answer.status == 200
    }

    @Test func `calls and sockets work over TLS`() async throws {
        try await Self.running(try await MadeCertificate()) { server, files in
            #expect(try await Self.isServed(server, files))
            let client = try await TestClient.open(server, 1, trustRootsFile: files.chainFile.path)
            try await client.send(
                .hello(Hello(token: try server.token("ann"), client: client.id, isNewClient: true, connection: 1)))
            _ = try await client.welcome()
            _ = try await client.changes()
            let bob = try await TestClient.open(server, 2, trustRootsFile: files.chainFile.path)
            try await bob.send(
                .hello(Hello(token: try server.token("bob"), client: bob.id, isNewClient: true, connection: 1)))
            _ = try await bob.welcome()
            // Each is larger than a TLS record; all fit in the window of a client that acknowledges nothing.
            let text = String(repeating: "x", count: 60_000)
            try await client.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await client.settled(through: 1)
            for number in 0..<10 {
                try await client.push(from: Int64(2 + number), Sample.message(20 + UInt64(number), in: 10, text: text))
            }
            let settled = try await client.settled(through: 11)
            #expect(settled.allSatisfy { $0.settled?.outcomes.allSatisfy { $0.rejection == nil } ?? true })
            var seen = 0
            while seen < 11 { seen += try await bob.changes().records.count }
            #expect(seen == 11, "the conversation and what is said in it")
            await bob.leave()
            await client.leave()
            let end = try await server.figures(until: "tidemark_certificate_end_seconds", reaches: 1)
            #expect((end["tidemark_certificate_end_seconds"] ?? 0) > Date().timeIntervalSince1970)
            while try await Figures(of: server)[#"tidemark_sockets{state="open"}"#] != 0 {
                try Task.checkCancellation()
            }
        }
    }

    @Test(arguments: [(TLSVersion.tlsv12, true), (.tlsv13, true), (.tlsv11, false)])
    func `TLS 1.2 and 1.3 are accepted, and nothing older`(_ version: TLSVersion, _ isSpoken: Bool) async throws {
        let certificate = try await MadeCertificate()
        var client = try certificate.clientConfiguration()
        (client.minimumTLSVersion, client.maximumTLSVersion) = (version, version)
        let context = try NIOSSLContext(configuration: client)
        try await Self.running(certificate) { server, files in
            do {
                try await RawCall.connected(to: server.port, tls: context) { call in
                    try await call.send(Self.request("/healthz"))
                    let answer = try await call.readToEnd()
                    #expect(answer.hasPrefix("HTTP/1.1 200") && isSpoken, "\(answer)")
                }
            } catch {
                #expect(!isSpoken, "\(error)")
            }
            guard !isSpoken else { return }
            _ = try await server.figures(until: #"tidemark_openings_failed_total{reason="handshake"}"#, reaches: 1)
            #expect(try await Self.isServed(server, files))
        }
    }

    @Test func `a plain HTTP client is told to use TLS, and one that sends nonsense is closed`() async throws {
        let log = LogCapture()
        try await Self.running(try await MadeCertificate(), log: log) { server, files in
            try await RawCall.connected(to: server.port) { call in
                try await call.send(Self.request("/healthz"))
                let answer = try await call.readToEnd()
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("speaks TLS"), "\(answer)")
            }
            // The first byte of a handshake, and then others.
            for nonsense in [[0], [0x80, 0x2e, 1, 3, 1], [22] + [UInt8](repeating: 0xff, count: 600)] as [[UInt8]] {
                try await RawCall.connected(to: server.port) { call in
                    try await call.send(nonsense)
                    let answer = try await call.readToEnd()
                    #expect(!answer.contains("HTTP"))
                }
            }
            let figures = try await server.figures(
                until: #"tidemark_openings_failed_total{reason="handshake"}"#, reaches: 1)
            #expect(figures[#"tidemark_openings_failed_total{reason="plain_text"}"#] == 3)
            #expect(try await Self.isServed(server, files))
        }
        #expect(log.lines.count { $0.contains("did not begin correctly label=plain_text peer=127.0.0.1") } == 3)
    }

    @Test func `half a handshake is held no longer than a head, and delays no other client`() async throws {
        try await Self.running(
            try await MadeCertificate(), limits: { $0.edge.headDeadline = .seconds(5) }
        ) { server, files in
            // A record is announced, begun, and never ended; another connection sends nothing at all.
            for bytes in [[22, 3, 1, 2, 0, 1, 0, 1], []] as [[UInt8]] {
                try await RawCall.connected(to: server.port) { call in
                    try await call.send(bytes)
                    #expect(try await Self.isServed(server, files))
                    let answer = try await call.readToEnd()
                    #expect(!answer.contains("HTTP"))
                }
            }
            while try await Figures(of: server)[#"tidemark_sockets{state="open"}"#] != 0 {
                try Task.checkCancellation()
            }
        }
    }

    @Test func `a new certificate is shown to new connections, and open ones go on`() async throws {
        let (old, new) = try await (MadeCertificate(days: 10), MadeCertificate(days: 20))
        try await Self.running(old) { server, files in
            let client = try await TestClient.open(server, 1, trustRootsFile: files.chainFile.path)
            try await client.send(
                .hello(Hello(token: try server.token("ann"), client: client.id, isNewClient: true, connection: 1)))
            _ = try await client.welcome()
            try files.write(new)
            // Trusts only the new one.
            while (try? await Self.isServed(server, files)) != true { try Task.checkCancellation() }
            _ = try await client.changes()
            try await client.push(from: 1, Sample.profile(11))
            _ = try await client.settled(through: 1)
            await client.leave()
        }
    }
}
