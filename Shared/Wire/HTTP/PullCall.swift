package import TidemarkModel

/// The body of `POST /v1/pull`: changes since a cursor, without a connection.
package struct PullCall: Hashable, Sendable {
    package var client: ClientID?
    package var cursor: String?
    package var scopes: [HeldScope]
    /// The milliseconds to wait for changes if there are none; at most 25,000.
    package var wait: Int64

    package init(client: ClientID? = nil, cursor: String? = nil, scopes: [HeldScope] = [], wait: Int64 = 0) {
        self.client = client
        self.cursor = cursor
        self.scopes = scopes
        self.wait = wait
    }

    /// Reads the body; `wait_ms` is cut to its maximum.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> PullCall {
        var call = PullCall()
        try MessageReader.members(of: bytes, "pull") { reader, key in
            switch key {
            case "client": call.client = try MessageReader.id(&reader)
            case "cursor": call.cursor = try reader.string()
            case "scopes": call.scopes = try MessageReader.heldScopes(&reader)
            case "wait_ms": call.wait = min(try MessageReader.count(&reader), 25_000)
            default: try reader.skip()
            }
        }
        return call
    }
}
