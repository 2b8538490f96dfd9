import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// Completes an accepted WebSocket handshake and replaces the HTTP handlers by one ``SocketHandler``.
///
/// NIO's own WebSocket upgrader leaves an encoder in the pipeline that cannot be removed; finished frames would have to
/// be written around it.
struct SyncUpgrader: NIOTypedHTTPServerProtocolUpgrader {
    let limits: EdgeLimits
    let ledger: ConnectionLedger
    let loops: LoopDirectory

    var supportedProtocol: String { "websocket" }
    var requiredUpgradeHeaders: [String] { [] }

    func buildUpgradeResponse(
        channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        channel.eventLoop.makeCompletedFuture {
            // HandshakeCheck has accepted the key: this only satisfies the type.
            guard let key = upgradeRequest.headers.websocketKey else {
                throw ChannelError.inappropriateOperationForState
            }
            var headers = initialResponseHeaders
            headers.add(name: "Sec-WebSocket-Accept", value: Self.accept(key))
            headers.add(name: "Sec-WebSocket-Protocol", value: HandshakeCheck.subprotocol)
            return headers
        }
    }

    func upgrade(channel: any Channel, upgradeRequest: HTTPRequestHead) -> EventLoopFuture<EdgeOutcome> {
        channel.eventLoop.makeCompletedFuture {
            try setOptions(of: channel)
            let socket = Socket(
                eventLoop: channel.eventLoop, bearerToken: upgradeRequest.headers.bearerToken, ledger: ledger)
            let handler = SocketHandler(socket: socket, loop: loops.sockets(on: channel.eventLoop))
            try channel.pipeline.syncOperations.addHandler(handler)
            return .webSocket
        }
    }

    /// RFC 6455 §4.2.2: proves to the client that this server understood the handshake. No secret depends on SHA-1
    /// here.
    static func accept(_ key: String) -> String {
        let digest = Insecure.SHA1.hash(data: Data((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
        return Data(digest).base64EncodedString()
    }

    private func setOptions(of channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        // The HTTP server allows half closure for its own connections; here it would leave a socket open whose peer has
        // left.
        try options.setOption(.allowRemoteHalfClosure, value: false)
        try options.setOption(
            .writeBufferWaterMark, value: .init(low: limits.writeBufferLowBytes, high: limits.writeBufferHighBytes))
        let allocator = AdaptiveRecvByteBufferAllocator(
            minimum: 64, initial: 1024, maximum: max(1024, limits.receiveBufferBytesMax))
        try options.setOption(.recvAllocator, value: allocator)
        try options.setOption(.socketOption(.so_sndbuf), value: .init(limits.kernelSendBufferBytes))
        guard channel.remoteAddress?.protocol != .unix else { return }
        try options.setOption(.tcpOption(.tcp_nodelay), value: 1)
    }
}
