import TidemarkModel

/// A batch as bytes for the nodes that did not commit it: JSON, kept in the batch's row.
package enum BatchBody {
    /// Encodes what delivery needs; `low` and `head` stand in the row's own columns.
    package static func encode(_ batch: CommittedBatch) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + batch.records.count * 320)
        writer.literal("{\"r\":")
        writer.array(batch.records, record)
        writer.literal(",\"m\":")
        writer.array(batch.memberships) { writer, change in
            writer.byte(UInt8(ascii: "["))
            writer.string(change.user.text)
            writer.byte(UInt8(ascii: ","))
            writer.string(change.scope.text)
            writer.byte(UInt8(ascii: ","))
            if let role = change.role { writer.string(role.rawValue) } else { writer.literal("null") }
            writer.byte(UInt8(ascii: ","))
            writer.integer(change.seq)
            writer.byte(UInt8(ascii: ","))
            if let since = change.since { writer.integer(since) } else { writer.literal("null") }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.literal(",\"s\":")
        writer.array(batch.settlements, settlement)
        if !batch.removals.isEmpty {
            writer.literal(",\"x\":")
            writer.array(batch.removals) { $0.id($1) }
        }
        if batch.forgets { writer.literal(",\"f\":1") }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    private static func record(_ writer: inout JSONWriter, _ record: StoredRecord) {
        writer.byte(UInt8(ascii: "["))
        writer.string(record.key.collection)
        writer.byte(UInt8(ascii: ","))
        writer.id(record.key.id)
        writer.byte(UInt8(ascii: ","))
        writer.string(record.scope.text)
        for number in [record.seq, record.born, record.isDeleted ? 1 : 0, record.created, record.updated] {
            writer.byte(UInt8(ascii: ","))
            writer.integer(number)
        }
        writer.byte(UInt8(ascii: ","))
        writer.string(record.author.text)
        writer.byte(UInt8(ascii: ","))
        if record.isDeleted { writer.literal("null") } else { writer.raw(record.body) }
        writer.byte(UInt8(ascii: "]"))
    }

    private static func settlement(_ writer: inout JSONWriter, _ settlement: Settlement) {
        let client = settlement.client
        writer.byte(UInt8(ascii: "["))
        writer.id(client.id)
        writer.byte(UInt8(ascii: ","))
        writer.string(client.user.text)
        for number in [client.settledThrough, client.ackedThrough, client.connection] {
            writer.byte(UInt8(ascii: ","))
            writer.integer(number)
        }
        writer.byte(UInt8(ascii: ","))
        writer.array(settlement.results) { $1.write(to: &$0) }
        writer.byte(UInt8(ascii: "]"))
    }
}
