import TidemarkModel

extension WireLimits {
    /// Not among the others: it is told only where blobs are kept, and a client that does not know it ignores it.
    private static let blobBytesName = "blob_bytes"

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
        let blobs = blobBytesMax.map { [(Self.blobBytesName, $0)] } ?? []
        for (name, value) in Self.names.map({ ($0.0, self[keyPath: $0.1]) }) + blobs {
            if isFirst { isFirst = false } else { writer.byte(UInt8(ascii: ",")) }
            writer.string(name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(Int64(value))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> WireLimits {
        var limits = WireLimits()
        try reader.object { reader, key in
            if key == blobBytesName {
                limits.blobBytesMax = Int(clamping: try MessageReader.count(&reader))
                return
            }
            guard let (_, path) = names.first(where: { $0.0 == key }) else { return try reader.skip() }
            limits[keyPath: path] = Int(clamping: try MessageReader.count(&reader))
        }
        return limits
    }
}
