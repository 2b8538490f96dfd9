import TidemarkModel

/// Announces that the server will close soon: the client connects elsewhere, or again, after the given time.
package struct GoAway: Hashable, Sendable {
    /// Milliseconds to wait before reconnecting.
    package var after: Int64
    package var reason: String

    package init(after: Int64, reason: String) {
        self.after = after
        self.reason = reason
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.integer("{\"t\":\"goaway\",\"after_ms\":", after)
        writer.string(",\"why\":", reason)
        return writer.ended()
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> GoAway {
        var message = GoAway(after: 0, reason: "")
        try MessageReader.members(of: bytes, "goaway") { reader, key in
            switch key {
            case "after_ms": message.after = try MessageReader.count(&reader)
            case "why": message.reason = try reader.string()
            default: try reader.skip()
            }
        }
        return message
    }
}
