import NIOCore
import NIOPosix

/// A TCP client that sends any bytes, for calls that no HTTP client would make.
struct RawCall: ~Copyable {
    private typealias Wire = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    static func connected(to port: Int, _ body: (inout RawCall) async throws -> Void) async throws {
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
            var call = RawCall(outbound: outbound, inbound: inbound.makeAsyncIterator())
            try await body(&call)
        }
    }

    func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }

    func send(_ text: String) async throws { try await send(Array(text.utf8)) }

    /// Ends our half.
    func finish() { outbound.finish() }

    /// What comes next: an answer, or nothing at the end.
    mutating func read() async throws -> String {
        guard let bytes = try await inbound.next(isolation: #isolation) else { return "" }
        return String(buffer: bytes)
    }

    /// Everything until the server ends its half, or resets the connection.
    mutating func readToEnd() async throws -> String {
        var text = ""
        do {
            while let bytes = try await inbound.next(isolation: #isolation) { text += String(buffer: bytes) }
        } catch is IOError {
            // A reset ends a connection too.
        }
        return text
    }
}
