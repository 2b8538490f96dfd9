import TidemarkModel

extension WireLimits {
    /// Wire names with the properties that they stand for.
    private static var names: [(String, WritableKeyPath<WireLimits, Int>)] {
        [
            ("message_bytes", \.messageBytesMax), ("push", \.pushTransactionsMax), ("pushes", \.pushesInFlightMax),
            ("page", \.pageRowsMax), ("pages", \.pagesInFlightMax), ("scopes", \.scopesMax),
            ("window_bytes", \.windowBytesMax), ("window_frames", \.windowFramesMax), ("rate", \.transactionsPerSecond),
            ("burst", \.transactionsBurst), ("record_bytes", \.model.recordBytesMax),
            ("transaction_bytes", \.model.transactionBytesMax), ("mutations", \.model.mutationsMax),
        ]
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

    static func read(_ reader: inout JSONReader) throws -> WireLimits {
        var limits = WireLimits()
        try reader.object { reader, key in
            guard let (_, path) = names.first(where: { $0.0 == key }) else { return try reader.skip() }
            limits[keyPath: path] = Int(clamping: try MessageReader.count(&reader))
        }
        return limits
    }
}
