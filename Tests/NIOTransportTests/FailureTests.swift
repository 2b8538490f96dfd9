import Testing
import Tidemark

@testable import TidemarkNIOTransport

/// The reason why there is no connection, as an app gets it.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
    private func code(of url: String) async -> SyncFailure.Code? { await failure(of: url)?.code }

    private func detail(of url: String) async -> String? { await failure(of: url)?.detail }

    private func failure(of url: String) async -> SyncFailure? {
        do {
            let connection = try await NIOTransport().connect(to: url)
            await connection.close(code: 1000)
            return nil
        } catch {
            return error as? SyncFailure
        }
    }

    @Test func `a wrong path, a wrong scheme, an untrusted server and no server are distinguished`() async throws {
        try await EchoServer.running { port, _ in
            #expect(await code(of: "http://127.0.0.1:\(port)") == nil)
            #expect(await code(of: "http://127.0.0.1:\(port)/elsewhere") == .notASyncServer)
            #expect(await code(of: "https://127.0.0.1:\(port)") == .tlsFailed)
        }
        try await EchoServer.running(tls: true) { port, _ in
            #expect(await code(of: "https://localhost:\(port)") == .tlsFailed)
        }
        #expect(await code(of: "http://127.0.0.1:1") == .unreachable)
    }

    @Test func `a TLS failure is described in words and without the names of source files`() async throws {
        try await EchoServer.running { port, _ in
            #expect(await detail(of: "https://127.0.0.1:\(port)") == "the server does not speak TLS")
        }
        try await EchoServer.running(tls: true) { port, _ in
            let untrusted = await detail(of: "https://localhost:\(port)")
            #expect(untrusted?.hasPrefix("its certificate is not valid here") == true)
        }
    }

    @Test(
        arguments: [
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\npage", .notASyncServer),
            ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", .unavailable),
            ("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", .unauthenticated),
            ("\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{46} no HTTP at all\r\n\r\n", .notASyncServer),
        ] as [(String, SyncFailure.Code)])
    func `an answer of another server has its code`(_ answer: String, _ expected: SyncFailure.Code) async throws {
        try await ScriptedServer.running(answering: Array(answer.utf8), then: .hangUp) { port in
            #expect(await code(of: "http://127.0.0.1:\(port)") == expected)
        }
    }
}
