import Foundation
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// Sends a running server the extremes of each number in calls, messages and addresses: it answers, and goes on.
@Suite(.timeLimit(.minutes(5))) struct NumberFuzzTests {
    private static let extremes = [
        "\(Int64.min)", "\(Int64.max)", "-1", "0", "9007199254740991", "9007199254740992", "1e308", "-1.5",
        "18446744073709551616",
    ]

    private static let calls = [
        ("/v1/clients", #"{"client":"018f3a2b-0000-7000-8000-000000000001","n":1}"#),
        (
            "/v1/push",
            #"{"client":"ID","conn":2,"first":1,"acked":0,"m":[{"id":"018f3a2b-0000-7000-8000-00000000000a","at":1,"if":1,"#
                + #""ops":[{"o":"put","c":"users","i":"018f3a2b-0000-7000-8000-00000000000b","f":{"displayName":1}},"#
                + #"{"o":"patch","c":"messages","i":"018f3a2b-0000-7000-8000-00000000000c","set":{"sentAt":1},"#
                + #""was":{"text":1}}]}]}"#
        ),
        ("/v1/pull", #"{"client":"ID","scopes":[["SCOPE",1]],"wait_ms":0}"#),
        ("/v1/page", #"{"rid":1,"scope":"SCOPE","since":1,"coll":"messages","before":9,"limit":5}"#),
        (
            "/v1/history",
            #"{"rid":1,"scope":"SCOPE","since":1,"coll":"messages","#
                + #""id":"018f3a2b-0000-7000-8000-00000000000c","before":9,"limit":5}"#
        ),
        ("/v1/revocations", #"{"user":"zoe","n":1}"#),
        (
            "/admin/v1/may",
            #"{"workspace":"w","user":"ann","action":"create","collection":"users","record":"ID","#
                + #""fields":{"n":1},"if_seq":1}"#
        ),
        (
            "/admin/v1/verify?workspace=w",
            #"{"account":"ann","client":"KNOWN","copy":{"scopes":[{"scope":"SCOPE","since":1,"collections":[{"#
                + #""collection":"messages","from":1,"records":1,"digest":"00000000000000000000000000000000"}]}]}}"#
        ),
    ]

    private static let messages = [
        #"{"t":"ack","frames":1,"diverged":1}"#,
        #"{"t":"page","rid":1,"scope":"SCOPE","since":1,"coll":"messages","before":9,"limit":5}"#,
        #"{"t":"history","rid":1,"scope":"SCOPE","since":1,"coll":"messages","#
            + #""id":"018f3a2b-0000-7000-8000-00000000000c","before":9,"limit":5}"#,
        #"{"t":"compare","rid":1,"scope":"SCOPE","since":1,"coll":"messages","from":1,"before":9,"list":true}"#,
        #"{"t":"push","first":1,"acked":0,"m":[{"id":"018f3a2b-0000-7000-8000-00000000000a","at":1,"if":1,"ops":["#
            + #"{"o":"del","c":"users","i":"018f3a2b-0000-7000-8000-00000000000b"}]}]}"#,
        #"{"t":"eph","scope":"SCOPE","k":"typing","d":{"n":1},"ttl":1}"#,
        #"{"t":"eph","scope":"SCOPE","k":"presence","d":{},"ttl":1}"#,
    ]

    private static let addresses = [
        "connections?limit=1", "connections/closed?before=1&limit=1", "refused?before=1&limit=1",
        "audit?before=1&limit=1", "workspaces?limit=1", "devices?workspace=w&limit=1",
        "record?workspace=w&record=RECORD&span=1",
    ]

    /// The text with each number (unless it is part of a word) replaced by each extreme.
    private static func spoilt(_ text: String) -> [String] {
        text.matches(of: /[:=,\[][01259](?=[,}\]&]|$)/).flatMap { match in
            let number = text.index(after: match.range.lowerBound)..<match.range.upperBound
            return extremes.map { text.replacingCharacters(in: number, with: $0) }
        }
    }

    private static func filled(_ text: String, _ client: ClientID) -> String {
        text.replacing("\"ID\"", with: "\"\(client)\"").replacing("KNOWN", with: "\(Sample.id(1))").replacing(
            "SCOPE", with: Sample.scope(10).text
        )
        .replacing("RECORD", with: "\(Sample.id(10))")
    }

    private func ground(_ body: @Sendable (TestServer, TestClient) async throws -> Void) async throws {
        try await TestServer.administered(change: TestServer.refillsNothing) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(10, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            try await body(server, ann)
            #expect(try await server.call("GET", "/healthz").status == 200)
            try await ann.push(from: 2, Sample.message(11, in: 10))
            // Bob's ephemeral messages arrive before.
            var settled: Int64 = 0
            while settled < 2 {
                if case .changes(let changes) = try await ann.next() { settled = changes.settled?.through ?? settled }
            }
        }
    }

    @Test func `no number of a call traps a server`() async throws {
        try await ground { server, ann in
            var count = 0
            for (path, body) in Self.calls {
                for body in Self.spoilt(Self.filled(body, Sample.id(2))) {
                    let isAdmin = path.hasPrefix("/admin")
                    let answer =
                        isAdmin
                        ? try await server.adminCall(path, body: body)
                        : try await server.post(path, as: "ann", body: body)
                    // A number far beyond the acknowledged ones is refused with a wait.
                    let isAnswer = answer.status < 500 || answer.text.contains(#""code":"overloaded""#)
                    #expect(isAnswer, "\(path) \(body): \(answer.status) \(answer.text)")
                    count += 1
                }
            }
            #expect(count > 200)
        }
    }

    @Test func `no number of an operator's address traps a server`() async throws {
        try await ground { server, ann in
            for path in Self.addresses {
                for path in Self.spoilt(Self.filled(path, ann.id)) {
                    let answer = try await server.adminCall("/admin/v1/" + path)
                    #expect(answer.status == 200 || answer.status == 400, "\(path): \(answer.status) \(answer.text)")
                }
            }
        }
    }

    @Test func `no number of a message traps a server`() async throws {
        try await ground { server, _ in
            var counter: Int64 = 1
            let first = try await TestClient.welcomed(server, as: "bob", 3)
            await first.leave()
            for message in Self.messages {
                for message in Self.spoilt(Self.filled(message, first.id)) {
                    counter += 1
                    let bob = try await TestClient.greeting(
                        server, as: "bob", 3, isNew: false, counter: counter, scopes: [])
                    _ = try await bob.welcome()
                    // The presence of the device before may be delivered before the changes.
                    while case .ephemeral = try await bob.next() {}
                    // Reads until the connection ends, whatever is sent before; a closed server gets no goodbye.
                    do {
                        try await bob.send(message)
                        try await bob.send(.bye)
                        while true { _ = try await bob.next() }
                    } catch is TransportClosed {
                    } catch let error as NIOTransportError where error.code == .lost {
                    }
                }
            }
            #expect(counter > 150)
        }
    }
}
