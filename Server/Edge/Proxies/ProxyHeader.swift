import NIOCore

/// A header of the PROXY protocol, version 2, which a proxy sends before anything else: the client of the connection.
enum ProxyHeader: Equatable {
    /// The connection is the proxy's own, as for its health probes, or its client has no internet address.
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

    /// Removes the header from the received bytes once it is complete; ignores everything in it but addresses.
    ///
    /// - Parameter bytesMax: the bound on the bytes after the fixed 16.
    /// - Returns: `nil` while bytes are missing; then nothing is removed.
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
            // Bytes that are not an address are malformed, whatever the reason.
            let address = try? SocketAddress(packedIPAddress: source, port: Int(port))
        else { throw .malformed }
        return .of(address)
    }
}
