package import TidemarkModel

/// A fresh token was accepted.
package struct AuthOK: Hashable, Sendable {
    /// The time when the token expires.
    package var expires: Milliseconds

    package init(expires: Milliseconds) { self.expires = expires }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 48)
        writer.integer("{\"t\":\"auth_ok\",\"exp\":", expires)
        return writer.ended()
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> AuthOK {
        var message = AuthOK(expires: 0)
        try MessageReader.members(of: bytes, "auth_ok") { reader, key in
            if key == "exp" { message.expires = try MessageReader.time(&reader) } else { try reader.skip() }
        }
        return message
    }
}
