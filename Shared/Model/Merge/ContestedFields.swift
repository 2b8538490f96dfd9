/// The fields of one record, all with rule `manual`, that a transaction left unchanged because others had changed them
/// since the writer saw them. The rest of the transaction takes effect.
///
/// JSON: `[collection, id, [field, …]]`.
package struct ContestedFields: Hashable, Sendable {
    package var key: RecordKey
    /// The fields, by the names that the patches used.
    package var fields: [String]

    package init(key: RecordKey, fields: [String]) {
        self.key = key
        self.fields = fields
    }

    /// Appends the array.
    package func write(to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "["))
        writer.string(key.collection)
        writer.byte(UInt8(ascii: ","))
        writer.id(key.id)
        writer.byte(UInt8(ascii: ","))
        writer.array(fields) { $0.string($1) }
        writer.byte(UInt8(ascii: "]"))
    }

    /// Reads the array that `write(to:)` wrote; later versions may append elements.
    package static func read(_ reader: inout JSONReader) throws -> ContestedFields {
        var collection = ""
        var id: UniqueID?
        var fields: [String] = []
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: collection = try reader.string()
            case 1: id = UniqueID(try reader.string())
            case 2: try reader.array { fields.append(try $0.string()) }
            default: try reader.skip()
            }
            index += 1
        }
        guard let id, index >= 3 else { throw reader.failure("contested fields are a collection, an id and names") }
        return ContestedFields(key: RecordKey(collection: collection, id: id), fields: fields)
    }

    /// The approximate number of bytes that it takes to keep.
    package var bytes: Int { 48 + key.collection.utf8.count + fields.reduce(0) { $0 + 3 + $1.utf8.count } }
}

extension RecordMerge {
    /// Returns the refusal of a write that would replace a value that its writer has not seen.
    package static func contested(_ field: String, in collection: CollectionSchema) -> Rejection {
        let name = collection.field(field)?.name ?? field.excerpt()
        return Rejection(.conflict, "\(collection.name).\(name): changed since the writer saw it")
    }
}
