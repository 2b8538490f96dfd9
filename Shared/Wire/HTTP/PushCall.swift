package import TidemarkModel

/// The body of `POST /v1/push`: a push without a connection.
package struct PushCall: Hashable, Sendable {
    package var client: ClientID
    /// The number of the client's connections and HTTP pushes so far, counted together.
    package var connection: Int64
    package var push: Push
    /// The name and version of the app, as in `hello`.
    package var app: String?

    package init(client: ClientID, connection: Int64, push: Push, app: String? = nil) {
        self.client = client
        self.connection = connection
        self.push = push
        self.app = app
    }

    /// Reads the body; a bad transaction is refused alone, as on a socket.
    ///
    /// - Parameter limits: the bounds for transactions; a server passes those that it advertises.
    package static func decode(
        _ bytes: [UInt8], limits: ModelLimits = ModelLimits()
    ) throws(WireError) -> PushCall {
        var client: ClientID?
        var call = PushCall(
            client: UniqueID(high: 0, low: 0), connection: 0, push: Push(first: 0, ackedThrough: 0, entries: []))
        try MessageReader.members(of: bytes, "push") { reader, key in
            switch key {
            case "client": client = try MessageReader.id(&reader)
            case "conn": call.connection = try MessageReader.count(&reader)
            case "app": call.app = try reader.string()
            case "first": call.push.first = try MessageReader.count(&reader)
            case "acked": call.push.ackedThrough = try MessageReader.count(&reader)
            case "m": call.push.entries = try Push.entries(&reader, limits)
            default: try reader.skip()
            }
        }
        guard let client, call.push.first > 0, !call.push.entries.isEmpty else {
            throw WireError("push: \"client\", \"first\" of at least 1 and \"m\" are required")
        }
        call.client = client
        return call
    }

    package func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.id("{\"client\":", client)
        writer.integer(",\"conn\":", connection)
        if let app { writer.string(",\"app\":", app) }
        writer.byte(UInt8(ascii: ","))
        push.writeBody(to: &writer)
        return writer.bytes
    }
}
