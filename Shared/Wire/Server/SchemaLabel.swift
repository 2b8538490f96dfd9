package import TidemarkModel

/// Which schema a server or a store works with.
package struct SchemaLabel: Hashable, Sendable {
    /// The same for all versions of a schema.
    package var name: String
    /// Shown, never compared: apps of several versions use one server.
    package var version: Int64

    package init(name: String, version: Int64) {
        self.name = name
        self.version = version
    }

    package init(_ schema: Schema) { self.init(name: schema.name, version: schema.version) }

    /// `{"name":…,"version":…}`.
    func write(to writer: inout JSONWriter) {
        writer.literal("{\"name\":")
        writer.string(name)
        writer.literal(",\"version\":")
        writer.integer(version)
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> SchemaLabel {
        var label = SchemaLabel(name: "", version: 0)
        try reader.object { reader, key in
            switch key {
            case "name": label.name = try reader.string()
            case "version": label.version = try reader.integer()
            default: try reader.skip()
            }
        }
        return label
    }
}
