package import TidemarkModel

extension BatchBody {
    /// Decodes what `encode` wrote.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the bytes are something else.
    package static func decode(
        _ bytes: [UInt8], low: SequenceNumber, head: Head
    ) throws(StoreError) -> CommittedBatch {
        var batch = CommittedBatch(low: low, head: head)
        // Our own bytes, bounded when they were planned: the wire's count of elements does not apply.
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

/// The elements of a short array, read in order and then asked for by place and type.
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
