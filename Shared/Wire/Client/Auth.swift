import TidemarkModel

/// A fresh token for a connection that is open; subject and workspace must stay the same.
package struct Auth: Hashable, Sendable {
    package var token: String

    package init(token: String) { self.token = token }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Auth {
        var token: String?
        try MessageReader.members(of: bytes, "auth") { reader, key in
            if key == "token" { token = try reader.string() } else { try reader.skip() }
        }
        guard let token else { throw WireError("auth: \"token\" is required") }
        return Auth(token: token)
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.string("{\"t\":\"auth\",\"token\":", token)
        return writer.ended()
    }
}
