package import TidemarkModel

/// The identity of the schema that a server or a store works with.
package struct SchemaLabel: Hashable, Sendable {
    /// The same for all versions of a schema.
    package var name: String
    /// Shown, never compared: apps of several versions use one server.
    package var version: Int64
    /// The number of documents that were put in force on the server's database; `nil` if the server does not send it.
    package var revision: Int64?

    package init(name: String, version: Int64, revision: Int64? = nil) {
        self.name = name
        self.version = version
        self.revision = revision
    }

    package init(_ schema: Schema, revision: Int64? = nil) {
        self.init(name: schema.name, version: schema.version, revision: revision)
    }

    /// Writes `{"name":…,"version":…,"revision":…}`.
    func write(to writer: inout JSONWriter) {
        writer.string("{\"name\":", name)
        writer.integer(",\"version\":", version)
        if let revision { writer.integer(",\"revision\":", revision) }
        writer.byte(UInt8(ascii: "}"))
    }

    static func read(_ reader: inout JSONReader) throws -> SchemaLabel {
        var label = SchemaLabel(name: "", version: 0)
        try reader.object { reader, key in
            switch key {
            case "name": label.name = try reader.string()
            case "version": label.version = try reader.integer()
            case "revision": label.revision = try MessageReader.count(&reader)
            default: try reader.skip()
            }
        }
        return label
    }
}
