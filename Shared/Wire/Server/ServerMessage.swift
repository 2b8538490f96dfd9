import TidemarkModel

/// Every message that a server may send on a connection.
package enum ServerMessage: Hashable, Sendable {
    case welcome(Welcome)
    case changes(Changes)
    case page(PageAnswer)
    case history(HistoryAnswer)
    case compared(CompareAnswer)
    case authOK(AuthOK)
    case error(ErrorMessage)
    case goAway(GoAway)
    case ephemeral(Ephemeral)
    /// A message of a kind that starts with `x-`: ignored.
    case unknownExtension

    /// Decodes one message.
    ///
    /// - Throws: `WireError` for anything but a well-formed message of a known kind.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> ServerMessage {
        let kind = try MessageReader.kind(of: bytes)
        switch kind {
        case "welcome": return .welcome(try Welcome.decode(bytes))
        case "changes": return .changes(try Changes.decode(bytes))
        case "page": return .page(try PageAnswer.decode(bytes))
        case "history": return .history(try HistoryAnswer.decode(bytes))
        case "compared": return .compared(try CompareAnswer.decode(bytes))
        case "auth_ok": return .authOK(try AuthOK.decode(bytes))
        case "err": return .error(try ErrorMessage.decode(bytes))
        case "goaway": return .goAway(try GoAway.decode(bytes))
        case "eph": return .ephemeral(try Ephemeral.decode(bytes, isNamed: true))
        default:
            try MessageReader.skip(bytes)
            if kind.hasPrefix("x-") { return .unknownExtension }
            throw WireError("unknown message \"\(kind.excerpt())\"")
        }
    }

    /// Returns the message's bytes.
    package func encode() -> [UInt8] {
        switch self {
        case .welcome(let message): message.encode()
        case .changes(let message): message.encode()
        case .page(let message): message.encode()
        case .history(let message): message.encode()
        case .compared(let message): message.encode()
        case .authOK(let message): message.encode()
        case .error(let message): message.encode()
        case .goAway(let message): message.encode()
        case .ephemeral(let message): message.encode()
        case .unknownExtension: Array("{\"t\":\"x-\"}".utf8)
        }
    }
}
