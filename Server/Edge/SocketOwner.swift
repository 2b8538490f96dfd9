/// Decides about the sockets of one event loop; made once a loop and called only on that loop.
///
/// Calls for one socket come in this order: ``opened(_:)``, then any of the middle ones, then ``closed(_:)``. An owner
/// may write to, or close, any socket of its loop from inside any call.
package protocol SocketOwner: AnyObject {
    /// A peer finished the handshake. The socket is not yet authenticated.
    func opened(_ socket: Socket)
    /// One whole text message, valid UTF-8, no longer than ``EdgeLimits/messageBytesMax``. Not called after
    /// ``Socket/close(code:reason:)``.
    func received(_ socket: Socket, text: [UInt8])
    /// The unsent bytes crossed a water mark of ``EdgeLimits``.
    func writabilityChanged(_ socket: Socket, isWritable: Bool)
    /// The server shuts down gracefully. Whoever does not close the socket within ``EdgeLimits/drainDeadline`` has it
    /// closed with 1001. The default closes with 1001 at once.
    func draining(_ socket: Socket)
    /// The connection is gone, for whatever reason. Exactly once for each socket; the socket ignores writes from here on.
    func closed(_ socket: Socket)
}

extension SocketOwner {
    /// Without a word of the owner the connection is closed as going away.
    package func draining(_ socket: Socket) {
        socket.close(code: EdgeCloseCode.goingAway, reason: "the server is going away")
    }
}
