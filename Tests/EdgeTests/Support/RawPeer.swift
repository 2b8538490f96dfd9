import NIOCore
import NIOPosix

/// A TCP client that sends any bytes and reads any answer.
struct RawPeer: ~Copyable {
    typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var unread = ByteBuffer()

    static func connected(to port: Int, _ body: (inout RawPeer) async throws -> Void) async throws {
        let wire = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Wire(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        try await wire.executeThenClose { inbound, outbound in
            var peer = RawPeer(
                channel: wire.channel, outbound: outbound, inbound: inbound.makeAsyncIterator())
            try await body(&peer)
        }
    }

    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Ends our half.
    func finish() { outbound.finish() }

    /// Reads the next `count` bytes, or as many as arrive before the end.
    mutating func read(_ count: Int) async throws -> [UInt8] {
        while unread.readableBytes < count, try await readMore() {}
        return unread.readBytes(length: min(count, unread.readableBytes)) ?? []
    }

    /// Reads everything up to and with the first blank line: an HTTP head. Empty when the connection ends before it.
    mutating func readHead() async throws -> String {
        let blank = Array("\r\n\r\n".utf8)
        while true {
            let bytes = Array(unread.readableBytesView)
            if let end = bytes.indices.first(where: { bytes[$0...].starts(with: blank) }) {
                return String(decoding: unread.readBytes(length: end + 4) ?? [], as: UTF8.self)
            }
            guard try await readMore() else { return "" }
        }
    }

    /// Reads an HTTP head and returns its status.
    mutating func readStatus() async throws -> String {
        String(try await readHead().split(separator: " ").dropFirst().first ?? "")
    }

    /// Reads until the server ends its half, or resets the connection.
    mutating func readToEnd() async throws -> [UInt8] {
        do {
            while try await readMore() {}
        } catch is IOError {
            // A reset ends a connection too; tests for which it matters compare the bytes before it.
        }
        return unread.readBytes(length: unread.readableBytes) ?? []
    }

    private mutating func readMore() async throws -> Bool {
        guard var bytes = try await inbound.next(isolation: #isolation) else { return false }
        unread.writeBuffer(&bytes)
        return true
    }
}

extension RawPeer {
    static let handshakeFields = [
        "Host: localhost", "Upgrade: websocket", "Connection: keep-alive, Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: tidemark.1.json",
    ]

    static func request(_ line: String, _ fields: [String]) -> String {
        ([line + " HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Connects and upgrades, then hands over a socket that has read nothing but the server's 101.
    static func upgraded(
        on port: Int, fields: [String] = handshakeFields, _ body: (inout RawPeer) async throws -> Void
    ) async throws {
        try await connected(to: port) { peer in
            try await peer.send(request("GET /v1/sync", fields))
            let head = try await peer.readHead()
            guard head.hasPrefix("HTTP/1.1 101") else { throw UpgradeRefused(head: head) }
            try await body(&peer)
        }
    }

    struct UpgradeRefused: Error { let head: String }
}
