import Testing
import TidemarkModel
import TidemarkWire

/// Devices that do not read, as an operator sees them.
@Suite(.timeLimit(.minutes(5))) struct SlowConsumerTests {
    /// More messages than the server's buffers and a small buffer of the device hold.
    private static let messages = 80
    private static let text = String(repeating: "x", count: 20_000)

    /// Connects a device that sends hello and then reads nothing of the messages in a conversation with it.
    private static func deaf(
        _ server: TestServer, _ user: String, _ id: UInt64, ann: TestClient, from first: inout Int64,
        _ body: (inout RawCall) async throws -> Void
    ) async throws {
        let start = first
        first += Int64(messages) + 1
        try await RawCall.connected(to: server.port, receiveBufferBytes: 4_096) { call in
            try await call.openSocket()
            let token = try server.token(user)
            try await call.say(.hello(Hello(token: token, client: Sample.id(id), isNewClient: true, connection: 1)))
            _ = try await server.figures(until: #"tidemark_sockets{state="synced"}"#, reaches: 2)
            let conversation = id * 1_000
            try await ann.push(from: start, Sample.conversation(conversation, of: "ann", user))
            // Records in the same batch as a scope's beginning are fetched, not sent.
            _ = try await ann.settled(through: start)
            for offset in stride(from: 0, to: messages, by: 10) {
                let transactions = (offset..<offset + 10).map {
                    Sample.message(conversation + 1 + UInt64($0), in: conversation, text: text)
                }
                try await ann.send(
                    .push(
                        Push(
                            first: start + 1 + Int64(offset), ackedThrough: 0,
                            entries: transactions.map { Push.Entry($0) })))
                _ = try await ann.settled(through: start + 10 + Int64(offset))
            }
            _ = try await server.figures(until: "tidemark_slow_consumers", reaches: 1)
            try await body(&call)
        }
    }

    private static func awaitNone(_ server: TestServer) async throws {
        while try await Figures(of: server)["tidemark_slow_consumers"] != 0 { try Task.checkCancellation() }
    }

    @Test func `a device that does not read is a slow consumer until it reads or disconnects`() async throws {
        try await TestServer.running(environment: TestServer.operated) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            #expect(try await Figures(of: server)["tidemark_slow_consumers"] == 0)
            var first: Int64 = 1
            try await Self.deaf(server, "bob", 2, ann: ann, from: &first) { bob in
                // While the server calls it slow there is more to read.
                while try await Figures(of: server)["tidemark_slow_consumers"] != 0 { _ = try await bob.read() }
            }
            try await Self.deaf(server, "cat", 3, ann: ann, from: &first) { _ in }
            try await Self.awaitNone(server)
        }
    }
}
