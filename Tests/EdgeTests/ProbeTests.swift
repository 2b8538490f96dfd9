import NIOCore
import Testing

@testable import TidemarkEdge

/// The capacity that is reserved for a probe of health when every connection is taken.
@Suite(.timeLimit(.minutes(5))) struct ProbeTests {
    @Test func `health is answered when all connections are taken, and nothing else is`() async throws {
        var limits = EdgeLimits()
        limits.connectionsMax = 1
        try await EdgeServer.running(limits) { server in
            try await RawPeer.upgraded(on: server.port) { _ in
                for _ in 0..<3 {
                    try await RawPeer.connected(to: server.port) { probe in
                        try await probe.send(RawPeer.request("GET /healthz", ["Host: localhost"]))
                        let answer = String(decoding: try await probe.readToEnd(), as: UTF8.self)
                        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("well"))
                    }
                }
                for (line, fields) in [("GET /json", ["Host: localhost"]), ("GET /v1/sync", RawPeer.handshakeFields)] {
                    try await RawPeer.connected(to: server.port) { peer in
                        try await peer.send(RawPeer.request(line, fields))
                        let answer = String(decoding: try await peer.readToEnd(), as: UTF8.self)
                        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("no connection left"))
                    }
                }
            }
        }
    }

    @Test func `a probe may ask for the status alone`() async throws {
        var limits = EdgeLimits()
        limits.connectionsMax = 0
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { probe in
                try await probe.send(RawPeer.request("HEAD /healthz", ["Host: localhost"]))
                // The router of this test has no such call; the edge lets it through.
                let answer = String(decoding: try await probe.readToEnd(), as: UTF8.self)
                #expect(answer.hasPrefix("HTTP/1.1 404 "), "\(answer)")
            }
        }
    }

    @Test func `a new probe replaces the oldest, first of its own address`() async throws {
        var limits = EdgeLimits()
        limits.connectionsMax = 0
        limits.probesMax = 3
        limits.probesPerAddressMax = 2
        final class Key {}
        let keys = (0..<5).map { _ in Key() }
        var counts = LedgerCounts()
        let verdicts = zip(keys, [UInt64(1), 1, 1, 2, 3]).map { counts.admit(ObjectIdentifier($0), from: $1, limits) }
        #expect(verdicts.allSatisfy { $0.admission == .probe })
        #expect(verdicts.map(\.evicted) == [nil, nil, ObjectIdentifier(keys[0]), nil, ObjectIdentifier(keys[1])])
        for key in keys { counts.release(ObjectIdentifier(key)) }
        #expect(counts.open == 0)
        // On a server that is full of silent connections of the same address.
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { _ in
                try await RawPeer.connected(to: server.port) { _ in
                    try await RawPeer.connected(to: server.port) { probe in
                        try await probe.send(RawPeer.request("GET /healthz", ["Host: localhost"]))
                        let answer = String(decoding: try await probe.readToEnd(), as: UTF8.self)
                        #expect(answer.hasPrefix("HTTP/1.1 200 "))
                    }
                }
            }
        }
    }

    @Test func `silence does not hold the capacity reserved for probes`() async throws {
        var limits = EdgeLimits()
        limits.connectionsMax = 0
        limits.probeDeadline = .milliseconds(100)
        try await EdgeServer.running(limits) { server in
            try await RawPeer.connected(to: server.port) { peer in
                let rest = try await peer.readToEnd()
                #expect(rest == [])
            }
        }
    }
}
