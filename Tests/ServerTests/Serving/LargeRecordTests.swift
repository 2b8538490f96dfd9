import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

/// Sizes that an operator has changed, over socket and HTTP.
@Suite(.timeLimit(.minutes(5))) struct LargeRecordTests {
    private static let schema = """
        {"tidemark": 1, "collections": {"notes": {"scope": {"shared": "room"}, "fields": {
            "text": {"type": "string", "max": 3000000}}}}}
        """

    @Test(arguments: [(["RECORD_BYTES": "1048576"], true), ([:], false)])
    func `a record of 404 KB is accepted if the profile allows it, over the socket and over HTTP`(
        _ limits: [String: String], _ isTaken: Bool
    ) async throws {
        let schema = try Schema(json: Array(Self.schema.utf8))
        try await TestServer.running(schema: schema, limits: limits) { server in
            let ann = try await TestClient.greeting(server, as: "ann", 1)
            #expect(try await ann.welcome().limits.model.recordBytesMax == (isTaken ? 1_048_576 : 262_144))
            try await ann.push(from: 1, .note(1, bytes: 404_000))
            let outcome = try await ann.settled(through: 1).compactMap(\.settled).flatMap(\.outcomes).first
            #expect(outcome.map { $0.rejection?.code } == (isTaken ? .some(nil) : .tooLarge))
            let push = Push(first: 2, ackedThrough: 1, entries: [Push.Entry(.note(2, bytes: 404_000))])
            let call = PushCall(client: ann.id, connection: 2, push: push)
            let answer = try await server.post(
                "/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
            #expect(
                try PushAnswer.decode(answer.body).outcomes.map { $0.rejection?.code } == [isTaken ? nil : .tooLarge])
            await ann.leave()
        }
    }

    @Test(arguments: [("4096", 5_000, false), ("2097152", 1_500_000, true), ("1048576", 1_500_000, false)])
    func `a message may be as large as the profile says, over the socket and over HTTP`(
        _ bytesMax: String, _ bytes: Int, _ isTaken: Bool
    ) async throws {
        try await TestServer.running(limits: ["MESSAGE_BYTES": bytesMax]) { server in
            let padding = #"{"t":"x-pad","p":""# + String(repeating: "x", count: bytes) + #""}"#
            let ann = try await TestClient.greeting(server, as: "ann", 1)
            #expect(try await ann.welcome().limits.messageBytesMax == Int(bytesMax))
            try await ann.send(padding)
            if isTaken {
                try await ann.push(from: 1, Sample.profile(10))
                _ = try await ann.settled(through: 1)
                await ann.leave()
            } else {
                #expect(try await ann.closeCode() == 1009)
            }
            let call = #"{"scopes":[],"x":""# + String(repeating: "x", count: bytes) + #""}"#
            #expect(try await server.post("/v1/pull", as: "ann", body: call).status == (isTaken ? 200 : 413))
        }
    }
}
