import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing
import TidemarkEdge
import TidemarkLock

@testable import TidemarkNIOTransport

@Suite(.timeLimit(.minutes(5))) struct NIOWebSocketTests {
    private func connect(
        _ port: Int, path: String = "/v1/sync", host: String = "127.0.0.1", useTLS: Bool = false,
        headers: [(String, String)] = [], subprotocol: String = "tidemark.1.json", trustRootsFile: String? = nil,
        limits: NIOTransportLimits = NIOTransportLimits()
    ) async throws -> NIOWebSocketConnection {
        try await NIOWebSocketClient.connect(
            host: host, port: port, path: path, useTLS: useTLS, headers: headers, maxMessageBytes: 1 << 20,
            group: MultiThreadedEventLoopGroup.singleton, subprotocol: subprotocol, trustRootsFile: trustRootsFile,
            limits: limits)
    }

    @Test func `2000 messages come back in order while both directions run`() async throws {
        try await EchoServer.running { port, _ in
            let socket = try await connect(port)
            async let sending: Void = {
                for index in 0..<2000 { try await socket.send(Array("message \(index)".utf8)) }
            }()
            for index in 0..<2000 {
                #expect(try await socket.receive() == Array("message \(index)".utf8))
            }
            try await sending
            await socket.close(code: 1000, reason: "done")
        }
    }

    @Test func `a message of the largest size passes, one byte more ends with 1009`() async throws {
        try await EchoServer.running { port, _ in
            let socket = try await connect(port)
            let largest = [UInt8](repeating: 97, count: 1 << 20)
            try await socket.send(largest)
            #expect(try await socket.receive() == largest)
            try await socket.send(largest + [97])
            let end = await #expect(throws: TransportClosed.self) { try await socket.receive() }
            #expect(end?.code == 1009)
        }
    }

    @Test func `the server's close code is delivered after the messages before it`() async throws {
        let reply: @Sendable (Socket, [UInt8]) -> Void = { socket, text in
            EchoServer.echo(socket, text)
            socket.close(code: 4401, reason: "token expired")
        }
        try await EchoServer.running(received: reply) { port, _ in
            let socket = try await connect(port)
            try await socket.send([97])
            #expect(try await socket.receive() == [97])
            for _ in 0..<2 {
                await #expect(throws: TransportClosed(code: 4401, reason: "token expired")) {
                    try await socket.receive()
                }
            }
            await socket.close(code: 1000, reason: "")
            let late = await #expect(throws: NIOTransportError.self) { try await socket.send([97]) }
            #expect(late?.code == .lost)
        }
    }

    @Test func `a graceful shutdown of the server is reported as 1001`() async throws {
        try await EchoServer.running { port, services in
            let socket = try await connect(port)
            try await socket.send([97])
            #expect(try await socket.receive() == [97])
            await services.triggerGracefulShutdown()
            let end = await #expect(throws: TransportClosed.self) { try await socket.receive() }
            #expect(end?.code == 1001)
        }
    }

    @Test func `an app that does not receive slows the server down`() async throws {
        let frame = WebSocketFraming.text([UInt8](repeating: 97, count: 16 * 1024))
        let written = Lock(0)
        let (full, continuation) = AsyncStream<Void>.makeStream()
        let flood: @Sendable (Socket, [UInt8]) -> Void = { socket, _ in
            while socket.isWritable {
                written.withLock { $0 += 1 }
                socket.write(frame)
                socket.flush()
            }
        }
        try await EchoServer.running(
            received: flood, writabilityChanged: { if !$1 { continuation.yield() } },
            { port, _ in
                let socket = try await connect(port)
                try await socket.send([97])
                _ = await full.first { true }
                let count = written.withLock { $0 }
                // 8 MiB: the buffers of both ends and both kernels. Further messages have to wait.
                #expect(count < 512)
                for _ in 0..<count { #expect(try await socket.receive().count == 16 * 1024) }
                await socket.close(code: 1000, reason: "")
            })
    }

    @Test func `a cancelled receive leaves the connection usable`() async throws {
        try await EchoServer.running { port, _ in
            let socket = try await connect(port)
            for _ in 0..<50 {
                await withThrowingTaskGroup(of: [UInt8].self) { group in
                    group.addTask { try await socket.receive() }
                    group.cancelAll()
                    await #expect(throws: CancellationError.self) { try await group.next() }
                }
            }
            try await socket.send([97])
            #expect(try await socket.receive() == [97])
            await socket.close(code: 1000, reason: "")
        }
    }

    @Test func `a refused handshake shows the status and the server's text`() async throws {
        try await EchoServer.running { port, _ in
            let origin = await #expect(throws: NIOTransportError.self) {
                try await connect(port, headers: [("Origin", "https://evil.example")])
            }
            #expect(origin?.httpStatus == 403)
            let subprotocol = await #expect(throws: NIOTransportError.self) {
                try await connect(port, subprotocol: "x")
            }
            #expect(subprotocol?.httpStatus == 400)
            #expect(subprotocol?.detail.contains("tidemark.1.json") == true)
            let path = await #expect(throws: NIOTransportError.self) { try await connect(port, path: "/none") }
            #expect(path?.httpStatus == 404)
            #expect(path?.code == .handshakeRefused)
        }
    }

    @Test func `no listener, no answer and a hang-up are distinguished`() async throws {
        let refused = await #expect(throws: NIOTransportError.self) { try await connect(1) }
        #expect(refused?.code == .connectFailed)
        var limits = NIOTransportLimits()
        limits.connectTimeout = .milliseconds(50)
        try await ScriptedServer.running(answering: [], then: .stayOpen) { [limits] port in
            let silent = await #expect(throws: NIOTransportError.self) { try await connect(port, limits: limits) }
            #expect(silent?.code == .timedOut)
        }
        try await ScriptedServer.running(answering: [], then: .hangUp) { port in
            let gone = await #expect(throws: NIOTransportError.self) { try await connect(port) }
            #expect(gone?.code == .connectFailed)
        }
    }

    @Test func `an unanswered handshake ends at once when its task is cancelled`() async throws {
        let (heads, head) = AsyncStream.makeStream(of: Void.self)
        try await ScriptedServer.running(answering: [], then: .stayOpen, heard: { head.yield() }) { port in
            let handshake = Task { try await connect(port) }
            for await _ in heads { break }
            handshake.cancel()
            // By itself it would end after ten seconds, as `timedOut`.
            await #expect(throws: CancellationError.self) { try await handshake.value }
        }
    }

    @Test func `TLS works with the right authority and fails with the system's`() async throws {
        try await EchoServer.running(tls: true) { port, _ in
            try await TestCertificate.file { file in
                for host in ["localhost", "127.0.0.1"] {
                    let socket = try await connect(port, host: host, useTLS: true, trustRootsFile: file)
                    try await socket.send([97])
                    #expect(try await socket.receive() == [97])
                    await socket.close(code: 1000, reason: "")
                }
            }
            let untrusted = await #expect(throws: NIOTransportError.self) {
                try await connect(port, host: "localhost", useTLS: true)
            }
            #expect(untrusted?.code == .tlsFailed)
        }
    }
}
