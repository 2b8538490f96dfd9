import TidemarkModel

/// Reports how many `changes` frames of this connection the client has durably applied; opens the send window.
package struct Ack: Hashable, Sendable {
    /// The number of frames since the connection's first; never decreases.
    package var frames: Int64
    /// The number of records that a comparison found to differ from the server's, since the last report, although the
    /// client had received everything. The client fetches them again and reports them, so that the operator can look
    /// for the reason.
    package var diverged: Int64

    package init(frames: Int64, diverged: Int64 = 0) {
        self.frames = frames
        self.diverged = diverged
    }

    static func decode(_ bytes: [UInt8]) throws(WireError) -> Ack {
        var (frames, diverged) = (Int64?.none, Int64(0))
        try MessageReader.members(of: bytes, "ack") { reader, key in
            switch key {
            case "frames": frames = try MessageReader.count(&reader)
            case "diverged": diverged = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        guard let frames else { throw WireError("ack: \"frames\" is required") }
        return Ack(frames: frames, diverged: diverged)
    }

    func encode() -> [UInt8] {
        var writer = JSONWriter(capacity: 40)
        writer.integer("{\"t\":\"ack\",\"frames\":", frames)
        if diverged > 0 { writer.integer(",\"diverged\":", diverged) }
        return writer.ended()
    }
}
