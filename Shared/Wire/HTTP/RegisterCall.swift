package import TidemarkModel

/// The body of `POST /v1/clients`: binds a client id to the token's user.
package struct RegisterCall: Hashable, Sendable {
    package var client: ClientID

    package init(client: ClientID) { self.client = client }

    /// Reads the body.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> RegisterCall {
        var client: ClientID?
        try MessageReader.members(of: bytes, "clients") { reader, key in
            if key == "client" { client = try MessageReader.id(&reader) } else { try reader.skip() }
        }
        guard let client else { throw WireError("clients: \"client\" is required") }
        return RegisterCall(client: client)
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.id("{\"client\":", client)
        return writer.ended()
    }
}
