import Testing
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly

/// The lines about a push have the trace that it is part of.
@Suite(.timeLimit(.minutes(5))) struct TraceTests {
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let trace = "00-\(id)-00f067aa0ba902b7-01"

    /// A client that sends its trace and has pushed once.
    private func connected(to server: TestServer) async throws -> TestClient {
        let ann = try await TestClient.open(server, 1)
        try await ann.send(
            .hello(
                Hello(
                    token: try server.token("ann"), client: ann.id, isNewClient: true, connection: 1,
                    trace: TraceParent(Self.trace))))
        _ = try await ann.welcome()
        _ = try await ann.changes()
        try await ann.push(from: 1, Sample.profile(11))
        _ = try await ann.settled(through: 1)
        return ann
    }

    @Test func `a push has the trace of its connection, or of its call, on its line`() async throws {
        let log = LogCapture()
        try await TestServer.running(log: log) { server in
            let ann = try await connected(to: server)
            for (number, fields) in [
                [("traceparent", "00-aaaabbbbccccddddaaaabbbbccccdddd-00f067aa0ba902b7-01")],
                [("traceparent", "00-forged-01")], [("traceparent", Self.trace), ("traceparent", Self.trace)], [],
            ].enumerated() {
                let first = Int64(number) + 2
                let push = Push(
                    first: first, ackedThrough: 1, entries: [Push.Entry(Sample.profile(UInt64(first) + 20))])
                let call = PushCall(client: ann.id, connection: first, push: push)
                let answer = try await server.call(
                    "POST", "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self),
                    headers: fields)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        let lines = log.lines.filter { $0.contains("Answered a push") }
        #expect(lines.count == 5)
        #expect(lines.count { $0.contains("outcome=accepted") && $0.contains("client=\(Sample.id(1))") } == 5)
        #expect(lines.filter { $0.contains("trace_id=\(Self.id)") }.count == 1)
        #expect(lines.filter { $0.contains("trace_id=aaaabbbbccccddddaaaabbbbccccdddd") }.count == 1)
        #expect(lines.filter { $0.contains("trace_id") }.count == 2, "what is no trace leaves none")
    }

    @Test func `a client that pushes too fast has its trace in the line of the security log`() async throws {
        let log = LogCapture()
        try await TestServer.running(limits: ["BURST": "1"], log: log, change: TestServer.refillsNothing) { server in
            let ann = try await connected(to: server)
            try await ann.push(from: 2, Sample.profile(12))
            #expect(try await ann.error().code == .rateLimited)
        }
        #expect(log.lines.count { $0.contains("too many in a short time") && $0.contains("trace_id=\(Self.id)") } == 1)
    }
}
