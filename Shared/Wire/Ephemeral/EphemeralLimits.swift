import TidemarkModel

/// Bounds of ephemeral messages, sent in `welcome` to clients that take them. Messages over a bound are dropped.
package struct EphemeralLimits: Hashable, Sendable {
    /// Messages a second that one connection may send, and as many at once after a pause.
    package var perSecond = 10
    /// Bytes of a payload in canonical form.
    package var payloadBytesMax = 1_024
    /// The longest time in milliseconds for which a message may be valid.
    package var lifetimeMax = 10_000

    package init() {}

    private static var names: [(String, WritableKeyPath<EphemeralLimits, Int>)] {
        [("rate", \.perSecond), ("bytes", \.payloadBytesMax), ("ttl", \.lifetimeMax)]
    }

    /// True when a client may send it; its rate is checked elsewhere.
    package func allow(_ message: Ephemeral) -> Bool {
        message.lifetime <= Int64(lifetimeMax) && message.payload.canonicalBytes.count <= payloadBytesMax
    }

    func write(to writer: inout JSONWriter) {
        var isFirst = true
        writer.byte(UInt8(ascii: "{"))
        for (name, path) in Self.names {
            if isFirst { isFirst = false } else { writer.byte(UInt8(ascii: ",")) }
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(Int64(self[keyPath: path]))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> EphemeralLimits {
        var limits = EphemeralLimits()
        try reader.object { reader, key in
            guard let (_, path) = names.first(where: { $0.0 == key }) else { return try reader.skip() }
            limits[keyPath: path] = Int(clamping: try MessageReader.count(&reader))
        }
        return limits
    }
}
