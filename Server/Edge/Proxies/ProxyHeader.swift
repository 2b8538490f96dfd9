import NIOCore

/// A header of the PROXY protocol, version 2, which a proxy sends before anything else: whom the connection is for.
enum ProxyHeader: Equatable {
    /// The proxy speaks for itself, as its probes of health do, or for somebody without an internet address.
    case ofProxy
    case of(SocketAddress)

    enum Fault: String, Error {
        case notAHeader = "the connection does not begin with a header of the PROXY protocol, version 2"
        case malformed = "a header of the PROXY protocol is malformed"
        case tooLong = "a header of the PROXY protocol is too long"
    }

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]

    /// Takes the header off what has come, once it is whole; what it carries besides addresses is left out.
    ///
    /// - Parameter bytesMax: of what follows the fixed 16 bytes.
    /// - Returns: `nil` while bytes are missing; then nothing is taken.
    static func take(from bytes: inout ByteBuffer, bytesMax: Int) throws(Fault) -> ProxyHeader? {
        let begun = bytes.readableBytesView.prefix(signature.count)
        guard signature.starts(with: begun) else { throw .notAHeader }
        var rest = bytes
        rest.moveReaderIndex(forwardBy: begun.count)
        guard let version = rest.readInteger(as: UInt8.self), let family = rest.readInteger(as: UInt8.self),
            let length = rest.readInteger(as: UInt16.self)
        else { return nil }
        guard version >> 4 == 2, version & 0x0F <= 1 else { throw .malformed }
        guard Int(length) <= bytesMax else { throw .tooLong }
        guard var body = rest.readSlice(length: Int(length)) else { return nil }
        bytes = rest
        guard version & 0x0F == 1 else { return .ofProxy }
        let size: Int
        switch family {
        case 0x11: size = 4
        case 0x21: size = 16
        default: return .ofProxy
        }
        // Both addresses, then both ports.
        guard let source = body.readSlice(length: size), body.readSlice(length: size) != nil,
            let port = body.readInteger(as: UInt16.self), body.readInteger(as: UInt16.self) != nil,
            // What makes no address is malformed, whatever the reason.
            let address = try? SocketAddress(packedIPAddress: source, port: Int(port))
        else { throw .malformed }
        return .of(address)
    }
}
