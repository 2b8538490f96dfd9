package import TidemarkModel

/// A JSON value with its offset, so that an error in it can be reported with its line.
package struct LocatedJSON {
    /// The value, with its parts.
    package indirect enum Value {
        case object([(name: String, value: LocatedJSON)])
        case array([LocatedJSON])
        /// Text, number, boolean or null.
        case plain(FieldValue)
    }

    package let value: Value
    /// The offset of its first byte.
    package let offset: Int

    /// - Throws: `JSONError` with the offset of the first byte that is not JSON.
    package init(_ bytes: [UInt8]) throws {
        self = try JSONReader.read(bytes) { try Self.read(&$0) }
    }

    private init(_ value: Value, _ offset: Int) {
        self.value = value
        self.offset = offset
    }

    private static func read(_ reader: inout JSONReader) throws -> LocatedJSON {
        let first = reader.peek()
        let offset = reader.position
        switch first {
        case UInt8(ascii: "{"):
            var members: [(name: String, value: LocatedJSON)] = []
            try reader.object { reader, name in
                guard !members.contains(where: { $0.name == name }) else {
                    throw reader.failure("\"\(name)\" occurs twice")
                }
                members.append((name, try read(&reader)))
            }
            return LocatedJSON(.object(members), offset)
        case UInt8(ascii: "["):
            var elements: [LocatedJSON] = []
            try reader.array { elements.append(try read(&$0)) }
            return LocatedJSON(.array(elements), offset)
        default: return LocatedJSON(.plain(try reader.value()), offset)
        }
    }
}
