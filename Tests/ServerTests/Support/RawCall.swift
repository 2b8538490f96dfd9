import NIOCore
import NIOPosix
import NIOSSL
import TidemarkWire

/// A TCP client that sends any bytes, for calls that no HTTP client would make.
struct RawCall: ~Copyable {
    private typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    /// - Parameters:
    ///   - receiveBufferBytes: the kernel's buffer for a client that does not read; `nil` for the kernel's default.
    ///   - tls: the TLS configuration; `nil` for plain TCP.
    static func connected(
        to port: Int, receiveBufferBytes: Int? = nil, tls: NIOSSLContext? = nil,
        _ body: (inout RawCall) async throws -> Void
    ) async throws {
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
        if let receiveBufferBytes {
            bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: .init(receiveBufferBytes))
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: receiveBufferBytes))
        }
        let wire =
            try await bootstrap
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try Wire(
                        wrappingChannelSynchronously: channel,
                        configuration: .init(isOutboundHalfClosureEnabled: true))
                }
            }
        try await wire.executeThenClose { inbound, outbound in
            var call = RawCall(outbound: outbound, inbound: inbound.makeAsyncIterator())
            try await body(&call)
        }
    }

    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Ends our half.
    func finish() { outbound.finish() }

    /// Reads the next bytes; nothing at the end.
    mutating func read() async throws -> String {
        guard let bytes = try await inbound.next(isolation: #isolation) else { return "" }
        return String(buffer: bytes)
    }

    /// Reads until the server ends its half, or resets the connection.
    mutating func readToEnd() async throws -> String {
        var text = ""
        do {
            while let bytes = try await inbound.next(isolation: #isolation) { text += String(buffer: bytes) }
        } catch is IOError {
            // A reset ends a connection too.
        }
        return text
    }

    /// Upgrades to a WebSocket, which is not read.
    mutating func openSocket(fields more: [String] = []) async throws {
        let fields =
            [
                "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Protocol: tidemark.1.json",
            ] + more
        try await send((["GET /v1/sync HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
            let more = try await read()
            guard !more.isEmpty, head.isEmpty || head.hasPrefix("HTTP/1.1 101") else {
                throw Refused(head: head + more)
            }
            head += more
        }
    }

    /// Sends a message in a frame whose mask changes nothing.
    func say(_ message: ClientMessage) async throws {
        let bytes = message.encode()
        let length = UInt16(clamping: bytes.count)
        try await send([0x81, 0x80 | 126, UInt8(length >> 8), UInt8(length & 0xff), 0, 0, 0, 0] + bytes)
    }

    struct Refused: Error { let head: String }
}
