import NIOPosix
import Testing

@testable import TidemarkNIOTransport

@Suite(.timeLimit(.minutes(5))) struct NIOHTTPClientTests {
    private func request(
        _ method: String, _ path: String, _ port: Int, body: [UInt8] = [], timeout: Duration = .seconds(30),
        maxBodyBytes: Int = 1 << 20, useTLS: Bool = false, trustRootsFile: String? = nil
    ) async throws -> NIOHTTPAnswer {
        try await NIOHTTPClient.request(
            method: method, host: "localhost", port: port, path: path, useTLS: useTLS,
            headers: [("Content-Type", "application/json")], body: body, timeout: timeout,
            maxBodyBytes: maxBodyBytes, group: MultiThreadedEventLoopGroup.singleton, trustRootsFile: trustRootsFile)
    }

    @Test func `status, fields and body are returned`() async throws {
        try await EchoServer.running { port, _ in
            let answer = try await request("GET", "/json", port)
            #expect(answer.status == 200)
            #expect(answer.body == Array(#"{"ok":true}"#.utf8))
            #expect(answer.header("content-length") == "11")
            #expect(try await request("GET", "/none", port).status == 404)
            let body = [UInt8](repeating: 98, count: 200_000)
            #expect(try await request("POST", "/v1/echo", port, body: body).body == body)
        }
    }

    @Test func `an answer beyond the bound fails`() async throws {
        try await EchoServer.running { port, _ in
            let error = await #expect(throws: NIOTransportError.self) {
                try await request("POST", "/v1/echo", port, body: .init(repeating: 98, count: 5000), maxBodyBytes: 4999)
            }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func `an answer that does not arrive, or is not HTTP, fails`() async throws {
        try await ScriptedServer.running(answering: Array("HTTP/1.1 200 OK\r\n".utf8), then: .stayOpen) { port in
            let error = await #expect(throws: NIOTransportError.self) {
                try await request("GET", "/", port, timeout: .milliseconds(50))
            }
            #expect(error?.code == .timedOut)
        }
        try await ScriptedServer.running(answering: Array("HTTP/1.1 200 OK\r\nContent-".utf8), then: .hangUp) { port in
            let error = await #expect(throws: NIOTransportError.self) { try await request("GET", "/", port) }
            #expect([.lost, .protocolViolation].contains(error?.code))
        }
        try await ScriptedServer.running(answering: Array("HELLO\r\n\r\n".utf8), then: .stayOpen) { port in
            let error = await #expect(throws: NIOTransportError.self) { try await request("GET", "/", port) }
            #expect(error?.code == .protocolViolation)
        }
    }

    @Test func `a cancelled request ends as cancelled`() async throws {
        try await ScriptedServer.running(answering: [], then: .stayOpen) { port in
            await withThrowingTaskGroup(of: NIOHTTPAnswer.self) { group in
                group.addTask { try await request("GET", "/", port) }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
        }
    }

    @Test func `requests work over TLS`() async throws {
        try await EchoServer.running(tls: true) { port, _ in
            try await TestCertificate.file { file in
                let answer = try await request("GET", "/json", port, useTLS: true, trustRootsFile: file)
                #expect(answer.status == 200)
            }
        }
    }
}
