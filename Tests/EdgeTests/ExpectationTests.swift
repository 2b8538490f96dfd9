import Testing

@testable import TidemarkEdge

/// `Expect` of RFC 9110 §10.1.1.
@Suite(.timeLimit(.minutes(5))) struct ExpectationTests {
    private static let fields = ["Host: localhost", "Content-Length: 5", "Expect: 100-continue", "Connection: close"]

    @Test func `a client that holds its body back is told to continue, and answered then`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("POST /echo", Self.fields))
                #expect(try await peer.readHead() == "HTTP/1.1 100 Continue\r\n\r\n")
                try await peer.send("hello")
                let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("hello"), "\(answer)")
            }
        }
    }

    @Test func `an unwanted body is refused before it is sent`() async throws {
        let large = ["Host: localhost", "Content-Length: 50000000000", "Expect: 100-continue"]
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("POST /echo", large))
                #expect(try await peer.readHead().hasPrefix("HTTP/1.1 413 "))
                peer.finish()
            }
        }
    }

    @Test func `another expectation is refused`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                try await peer.send(RawPeer.request("GET /json", ["Host: localhost", "Expect: the-best"]))
                #expect(try await peer.readHead().hasPrefix("HTTP/1.1 417 "))
                peer.finish()
            }
        }
    }

    @Test func `behind a pending answer no interim answer is sent`() async throws {
        try await EdgeServer.running { server in
            try await RawPeer.connected(to: server.port) { peer in
                let first = RawPeer.request("GET /json", ["Host: localhost"])
                try await peer.send(first + RawPeer.request("POST /echo", Self.fields) + "hello")
                let answers = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                #expect(answers.hasPrefix("HTTP/1.1 200 ") && answers.hasSuffix("hello"), "\(answers)")
                #expect(answers.ranges(of: "HTTP/1.1 200 ").count == 2, "\(answers)")
            }
        }
    }
}
