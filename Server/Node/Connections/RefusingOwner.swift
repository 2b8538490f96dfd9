import NIOCore
import TidemarkEdge

/// Owns the sockets of a loop whose node has stopped: closes them.
final class RefusingOwner: SocketOwner {
    package func opened(_ socket: Socket) {
        socket.close(code: EdgeCloseCode.goingAway, reason: "the server has stopped")
    }

    package func received(_ socket: Socket, text: [UInt8]) {}
    package func writabilityChanged(_ socket: Socket, isWritable: Bool) {}
    package func closed(_ socket: Socket) {}
}
