import TidemarkModel

/// The client has durably applied so many `changes` frames of this connection; opens the send window.
package struct Ack: Hashable, Sendable {
    /// Counted from the connection's first frame; never decreases.
    package var frames: Int64

    package init(frames: Int64) { self.frames = frames }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Ack {
        var frames: Int64?
        try MessageReader.members(of: bytes, "ack") { reader, key in
            if key == "frames" { frames = try MessageReader.count(&reader) } else { try reader.skip() }
        }
        guard let frames else { throw WireError("ack: \"frames\" is required") }
        return Ack(frames: frames)
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 40)
        writer.literal("{\"t\":\"ack\",\"frames\":")
        writer.integer(frames)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}
