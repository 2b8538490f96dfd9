import NIOCore
import Testing

@testable import TidemarkEdge

/// The memory for unfinished messages of connections that are not authenticated yet.
@Suite(.timeLimit(.minutes(5))) struct UnauthenticatedBytesTests {
    /// An owner that accepts a message beginning with "I am" as authentication, and answers later ones.
    private static let owner: @Sendable (any EventLoop) -> any SocketOwner = { _ in GreetedOwner() }

    @Test func `long messages of strangers share one bound, and there is always room for a short one`() async throws {
        var limits = EdgeLimits()
        limits.unauthenticatedBytesMax = 300_000
        limits.unauthenticatedPerAddressMax = nil
        try await EdgeServer.running(limits, owner: Self.owner) { server in
            try await RawPeer.upgraded(on: server.port) { first in
                // Most of the room is taken by a connection that never ends its message.
                try await first.send(ClientFrames.announcement(1, length: 1_000_000))
                try await first.send([UInt8](repeating: 0, count: 130_000))
                try await eventually { server.edge.unauthenticatedBytes >= 130_000 }
                try await RawPeer.upgraded(on: server.port) { second in
                    try await second.send(ClientFrames.announcement(1, length: 1_000_000))
                    try await second.send([UInt8](repeating: 0, count: 300_000))
                    #expect(ClientFrames.code(ofClose: try await second.readToEnd()) == 4503)
                }
                try await RawPeer.upgraded(on: server.port) { short in
                    let greeting = ClientFrames.text("I am " + String(repeating: "x", count: 8_000))
                    for start in stride(from: 0, to: greeting.count, by: 100) {
                        try await short.send(Array(greeting[start..<min(start + 100, greeting.count)]))
                    }
                    #expect(try await short.read(4) == [0x81, 2, 104, 105])
                    // An authenticated connection has all the room that a message may have.
                    try await short.send(ClientFrames.text(String(repeating: "y", count: 900_000)))
                    #expect(try await short.read(4) == [0x81, 2, 104, 105])
                }
            }
            try await eventually { server.edge.unauthenticatedBytes == 0 }
            try await RawPeer.upgraded(on: server.port) { again in
                try await again.send(ClientFrames.text("I am " + String(repeating: "x", count: 140_000)))
                #expect(try await again.read(4) == [0x81, 2, 104, 105])
            }
        }
    }

    @Test func `the bytes of one address are bounded separately, and freed`() {
        final class Key {}
        let (first, second, other) = (Key(), Key(), Key())
        var limits = EdgeLimits()
        limits.unauthenticatedBytesFree = 10
        limits.unauthenticatedBytesMax = 300
        limits.unauthenticatedBytesPerAddressMax = 200
        var counts = LedgerCounts()
        for (key, network) in [(first, UInt64(1)), (second, 1), (other, 2)] {
            #expect(counts.admit(ObjectIdentifier(key), from: network, limits).admission == .everything)
        }
        func hold(_ key: Key, _ bytes: Int) -> Bool { counts.hold(bytes, for: ObjectIdentifier(key), limits) }
        #expect(hold(first, 150) && hold(first, 190))
        #expect(!hold(second, 11), "beyond what the address may have")
        #expect(hold(second, 10), "so little is not counted")
        #expect(hold(other, 110) && !hold(other, 111), "beyond what all may have")
        #expect(hold(first, 0) && hold(second, 180))
        counts.forgetStranger(ObjectIdentifier(second))
        #expect(counts.unauthenticatedBytes == 110)
        #expect(hold(second, 1_000_000), "who is known is not counted")
        counts.release(ObjectIdentifier(other))
        counts.release(ObjectIdentifier(first))
        #expect(counts.unauthenticatedBytes == 0)
    }
}

private final class GreetedOwner: SocketOwner {
    func opened(_ socket: Socket) {}

    func received(_ socket: Socket, text: [UInt8]) {
        if text.starts(with: "I am".utf8) { socket.markAuthenticated() }
        socket.write(WebSocketFraming.text(Array("hi".utf8)))
        socket.flush()
    }

    func writabilityChanged(_ socket: Socket, isWritable: Bool) {}
    func closed(_ socket: Socket) {}
}
