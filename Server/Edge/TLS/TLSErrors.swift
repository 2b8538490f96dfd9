import NIOCore
import NIOSSL

/// What goes wrong below HTTP where TLS is spoken: a handshake that fails is counted; a peer that leaves without a word of TLS has
/// left, which is no error of a protocol that says how long its messages are.
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
