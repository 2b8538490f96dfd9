/// Close codes that the edge itself sends: those of RFC 6455 §7.4, and two of the sync protocol for sockets without an
/// owner.
package enum EdgeCloseCode {
    /// The peer is done.
    package static let normal: UInt16 = 1000
    /// The server, or the client's app, is going away.
    package static let goingAway: UInt16 = 1001
    /// The peer broke the framing rules.
    package static let protocolError: UInt16 = 1002
    /// The peer sent a kind of message that is not supported.
    package static let unacceptable: UInt16 = 1003
    /// A text message was not UTF-8.
    package static let notUTF8: UInt16 = 1007
    /// The peer sent more control frames than is reasonable.
    package static let policyViolation: UInt16 = 1008
    /// A message was too long.
    package static let tooBig: UInt16 = 1009
    /// The server has no room for this now.
    package static let unavailable: UInt16 = 4503
    /// The peer was silent for too long.
    package static let silent: UInt16 = 4408

    /// Whether an endpoint may put this code into a close frame.
    static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
