package import TidemarkModel

/// A batch as bytes for the nodes that did not commit it: JSON, kept in the batch's row.
package enum BatchBody {
    /// Encodes what delivery needs. `low` and `head` are in columns of their own.
    package static func encode(_ batch: CommittedBatch) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + batch.records.count * 320)
        writer.array("{\"r\":", batch.records, record)
        writer.array(",\"m\":", batch.memberships) { writer, change in
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
        writer.array(",\"s\":", batch.settlements, settlement)
        if !batch.removals.isEmpty {
            writer.array(",\"x\":", batch.removals) { $0.id($1) }
        }
        if batch.forgets { writer.literal(",\"f\":1") }
        return writer.ended()
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

extension BatchBody {
    /// Decodes the bytes that `encode` wrote.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the bytes are something else.
    package static func decode(
        _ bytes: [UInt8], low: SequenceNumber, head: Head
    ) throws(StoreError) -> CommittedBatch {
        var batch = CommittedBatch(low: low, head: head)
        // Our own bytes, bounded when they were planned: the wire's limit on the number of elements does not apply.
        var limits = JSONLimits()
        limits.elementsMax = .max
        do {
            try JSONReader.read(bytes, limits: limits) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "r": try reader.array { batch.records.append(try record(&$0)) }
                    case "m": try reader.array { batch.memberships.append(try membership(&$0)) }
                    case "x":
                        try reader.array { reader in
                            guard let id = UniqueID(try reader.string()) else { throw TupleReader.Mismatch() }
                            batch.removals.append(id)
                        }
                    case "f": batch.forgets = try reader.integer() != 0
                    case "s": try reader.array { batch.settlements.append(try settlement(&$0)) }
                    default: try reader.skip()
                    }
                }
            }
        } catch {
            throw StoreError(.invariant, "the body of batch \(low)...\(head.seq) does not decode: \(error)")
        }
        return batch
    }

    private static func record(_ reader: inout JSONReader) throws -> StoredRecord {
        var row = TupleReader()
        var body: [UInt8] = []
        try reader.array { reader in
            if row.count == 9 {
                row.count += 1
                if try !reader.takeNull() { body = try reader.raw() }
            } else {
                try row.take(&reader)
            }
        }
        return StoredRecord(
            key: RecordKey(collection: try row.string(0), id: try row.id(1)), scope: ScopeID(try row.string(2)),
            seq: try row.integer(3), born: try row.integer(4), isDeleted: try row.integer(5) == 1,
            author: UserID(try row.string(8)), created: try row.integer(6), updated: try row.integer(7), body: body)
    }

    private static func membership(_ reader: inout JSONReader) throws -> MembershipChange {
        var row = TupleReader()
        try reader.array { try row.take(&$0) }
        return MembershipChange(
            user: UserID(try row.string(0)), scope: ScopeID(try row.string(1)),
            role: row.isNull(2) ? nil : try row.role(2), seq: try row.integer(3),
            since: row.isNull(4) ? nil : try row.integer(4))
    }

    private static func settlement(_ reader: inout JSONReader) throws -> Settlement {
        var row = TupleReader()
        var settlement: Settlement?
        try reader.array { reader in
            guard row.count == 5 else { return try row.take(&reader) }
            row.count += 1
            let client = ClientRow(
                id: try row.id(0), user: UserID(try row.string(1)), settledThrough: try row.integer(2),
                ackedThrough: try row.integer(3), connection: try row.integer(4))
            var results: [TransactionOutcome] = []
            try reader.array { results.append(try TransactionOutcome.read(&$0)) }
            settlement = Settlement(client: client, results: results)
        }
        guard let settlement else { throw TupleReader.Mismatch() }
        return settlement
    }
}

/// The elements of a short array, read in order and then asked for by index and type.
private struct TupleReader {
    var count = 0
    private var values: [FieldValue] = []

    mutating func take(_ reader: inout JSONReader) throws {
        count += 1
        values.append(try reader.value())
    }

    func isNull(_ index: Int) -> Bool { values.indices.contains(index) && values[index] == .null }

    func string(_ index: Int) throws -> String {
        guard values.indices.contains(index), case .string(let text) = values[index] else { throw Mismatch() }
        return text
    }

    func integer(_ index: Int) throws -> Int64 {
        guard values.indices.contains(index), case .integer(let number) = values[index] else { throw Mismatch() }
        return number
    }

    func id(_ index: Int) throws -> UniqueID {
        guard let id = UniqueID(try string(index)) else { throw Mismatch() }
        return id
    }

    /// An unknown role is an error: read as `nil` it would end the membership.
    func role(_ index: Int) throws -> Role {
        guard let role = Role(rawValue: try string(index)) else { throw Mismatch() }
        return role
    }

    struct Mismatch: Error {}
}
