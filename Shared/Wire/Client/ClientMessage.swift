package import TidemarkModel

/// Everything that a client may say on a connection.
package enum ClientMessage: Hashable, Sendable {
    case hello(Hello)
    case push(Push)
    case ack(Ack)
    case page(PageRequest)
    case history(HistoryRequest)
    case compare(CompareRequest)
    case auth(Auth)
    case ephemeral(Ephemeral)
    case bye
    /// A kind that starts with `x-`: ignored.
    case unknownExtension

    /// Decodes one message.
    ///
    /// - Parameter limits: what transactions are judged by; a server gives those that it advertises.
    /// - Throws: `WireError` for anything but a well-formed message of a known kind.
    package static func decode(
        _ bytes: [UInt8], limits: ModelLimits = ModelLimits()
    ) throws(WireError) -> ClientMessage {
        let kind = try MessageReader.kind(of: bytes)
        switch kind {
        case "hello": return .hello(try Hello.decode(bytes))
        case "push": return .push(try Push.decode(bytes, limits: limits))
        case "ack": return .ack(try Ack.decode(bytes))
        case "page": return .page(try PageRequest.decode(bytes))
        case "history": return .history(try HistoryRequest.decode(bytes))
        case "compare": return .compare(try CompareRequest.decode(bytes))
        case "auth": return .auth(try Auth.decode(bytes))
        case "eph": return .ephemeral(try Ephemeral.decode(bytes, isNamed: false))
        case "bye":
            try MessageReader.skip(bytes)
            return .bye
        default:
            try MessageReader.skip(bytes)
            if kind.hasPrefix("x-") { return .unknownExtension }
            throw WireError("unknown message \"\(kind.excerpt())\"")
        }
    }

    /// The message's bytes.
    package func encode() -> [UInt8] {
        switch self {
        case .hello(let message): message.encode()
        case .push(let message): message.encode()
        case .ack(let message): message.encode()
        case .page(let message): message.encode()
        case .history(let message): message.encode()
        case .compare(let message): message.encode()
        case .auth(let message): message.encode()
        case .ephemeral(let message): message.encode()
        case .bye: Array("{\"t\":\"bye\"}".utf8)
        case .unknownExtension: Array("{\"t\":\"x-\"}".utf8)
        }
    }
}
