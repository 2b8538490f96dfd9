import NIOCore
import NIOSSL

/// Handles errors below HTTP where TLS is spoken. A failed handshake is counted. A peer that leaves without a closing
/// alert has just left: HTTP states the length of its messages, so that nothing can be cut off unnoticed.
final class TLSErrors: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let ledger: ConnectionLedger

    init(ledger: ConnectionLedger) { self.ledger = ledger }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error as? NIOSSLError {
        case .uncleanShutdown?: break
        case .handshakeFailed(.sslError([.eofDuringHandshake]))?: context.close(promise: nil)
        case .handshakeFailed?:
            ledger.observe(.unopened(.handshake, ledger.peer(of: context.channel)))
            context.close(promise: nil)
        case .some, nil: context.fireErrorCaught(error)
        }
    }
}
