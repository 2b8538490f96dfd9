package import TidemarkModel

/// One record state as it travels: `[collection, id, seq, born, flags, author, created, updated, body]`.
///
/// Flag 1 marks a tombstone, whose body is `null`. The scope stands once, before the rows of its group.
package enum RowCoding {
    /// Appends one row; `body` is canonical JSON, ignored for a tombstone.
    package static func write(
        key: RecordKey, seq: SequenceNumber, born: SequenceNumber, isDeleted: Bool, author: UserID,
        created: Milliseconds, updated: Milliseconds, body: [UInt8], to writer: inout JSONWriter
    ) {
        writer.byte(UInt8(ascii: "["))
        writer.string(key.collection)
        writer.byte(UInt8(ascii: ","))
        writer.id(key.id)
        writer.byte(UInt8(ascii: ","))
        writer.integer(seq)
        writer.byte(UInt8(ascii: ","))
        writer.integer(born)
        if isDeleted { writer.literal(",1,") } else { writer.literal(",0,") }
        writer.string(author.text)
        writer.byte(UInt8(ascii: ","))
        writer.integer(created)
        writer.byte(UInt8(ascii: ","))
        writer.integer(updated)
        writer.byte(UInt8(ascii: ","))
        if isDeleted { writer.literal("null") } else { writer.raw(body) }
        writer.byte(UInt8(ascii: "]"))
    }

    static func write(_ change: Change, to writer: inout JSONWriter) {
        write(
            key: change.key, seq: change.seq, born: change.born, isDeleted: change.isDeleted, author: change.author,
            created: change.created, updated: change.updated,
            body: change.isDeleted ? [] : change.fields.canonicalBytes, to: &writer)
    }

    static func read(_ reader: inout JSONReader, scope: ScopeID) throws -> Change {
        var change = Change(
            key: RecordKey(collection: "", id: UniqueID(high: 0, low: 0)), scope: scope, seq: 0, born: 0,
            isDeleted: false, author: UserID(""), created: 0, updated: 0, fields: Fields())
        var collection = ""
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: collection = try reader.string()
            case 1: change.key = RecordKey(collection: collection, id: try MessageReader.id(&reader))
            case 2: change.seq = try MessageReader.count(&reader)
            case 3: change.born = try MessageReader.count(&reader)
            case 4: change.isDeleted = try MessageReader.count(&reader) & 1 == 1
            case 5: change.author = UserID(try reader.string())
            case 6: change.created = try reader.integer()
            case 7: change.updated = try reader.integer()
            case 8: if try !reader.takeNull() { change.fields = try reader.fields() }
            default: try reader.skip()
            }
            index += 1
        }
        guard index >= 9 else { throw reader.failure("a row has nine elements") }
        return change
    }
}
