package import TidemarkModel

/// A client as a store keeps it: its row, and the outcomes that it has not acknowledged.
///
/// The outcomes are few, since a client acknowledges with each push what the last one returned. In the row they cost
/// one column; in a table of their own they would cost two more index entries for every transaction and as many dead
/// ones.
package struct StoredClient: Hashable, Sendable {
    package var row: ClientRow
    /// Outcomes after `row.ackedThrough`, rising in number.
    package var kept: [TransactionOutcome]

    package init(row: ClientRow, kept: [TransactionOutcome] = []) {
        self.row = row
        self.kept = kept
    }

    /// The number of outcomes up to which their bytes need not be counted: so many are small whatever they hold.
    package static let keptFew = 256

    /// Returns the kept outcome of one transaction.
    package func result(_ number: Int64) -> TransactionOutcome? {
        // They rise in number, mostly without gaps.
        guard let first = kept.first, number >= first.number else { return nil }
        let guess = kept.index(0, offsetBy: Int(clamping: number - first.number), limitedBy: kept.count - 1)
        if let guess, kept[guess].number == number { return kept[guess] }
        return kept.first { $0.number == number }
    }

    /// Returns the client to store after a settlement.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the settlement is another user's or numbers would go back.
    package func settled(by settlement: Settlement) throws(StoreError) -> StoredClient {
        let client = settlement.client
        guard row.id == client.id, row.user == client.user else {
            throw StoreError(.invariant, "only a client that its user registered can be settled")
        }
        guard row.settledThrough <= settlement.settledBeforeMax, row.ackedThrough <= client.ackedThrough,
            row.connection <= client.connection
        else { throw StoreError(.invariant, "a client's numbers never go back") }
        let earlier = kept.drop { $0.number <= client.ackedThrough }
        let results = settlement.results.drop { $0.number <= client.ackedThrough }
        return StoredClient(row: client, kept: earlier.isEmpty ? Array(results) : Array(earlier + results))
    }

    /// The kept outcomes as a JSON array.
    package var keptBytes: [UInt8] {
        var writer = JSONWriter(capacity: 8 + kept.count * 96)
        writer.array(kept) { $1.write(to: &$0) }
        return writer.bytes
    }

    /// Reads the bytes that ``keptBytes`` wrote.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the bytes are something else.
    package init(row: ClientRow, keptBytes: [UInt8]) throws(StoreError) {
        self.init(row: row)
        // Our own bytes: the wire's limit on the number of elements does not apply.
        var limits = JSONLimits()
        limits.elementsMax = .max
        var kept: [TransactionOutcome] = []
        do {
            try JSONReader.read(keptBytes, limits: limits) { reader in
                try reader.array { kept.append(try TransactionOutcome.read(&$0)) }
            }
        } catch {
            throw StoreError(.invariant, "the kept outcomes of a client do not decode: \(error)")
        }
        self.kept = kept
    }
}

/// Reads an outcome from the bytes that the store wrote itself: anything that is not exactly an outcome is damage.
extension TransactionOutcome {
    static func read(_ reader: inout JSONReader) throws -> TransactionOutcome {
        var row = TransactionOutcome(number: 0, transaction: UniqueID(high: 0, low: 0), seq: 0, time: 0, rejection: nil)
        var code: RejectionCode?
        var index = 0
        try reader.array { reader in
            switch index {
            case 0: row.number = try reader.integer()
            case 1:
                guard let id = UniqueID(try reader.string()) else { throw reader.failure("not a UUID") }
                row.transaction = id
            case 2: row.seq = try reader.integer()
            case 3: row.time = try reader.integer()
            case 4:
                if try !reader.takeNull() { code = RejectionCode(rawValue: try reader.string()) ?? .internalRejected }
            case 5:
                if try !reader.takeNull() { row.rejection = Rejection(code ?? .internalRejected, try reader.string()) }
            case 6: try reader.array { row.contested.append(try ContestedFields.read(&$0)) }
            default: throw reader.failure("an outcome has four, six or seven elements")
            }
            index += 1
        }
        guard index == 4 || index == 6 || index == 7 else {
            throw reader.failure("an outcome has four, six or seven elements")
        }
        return row
    }
}

/// A record as the store keeps it: the envelope in columns, the fields as the exact bytes that are sent.
package struct StoredRecord: Hashable, Sendable {
    package var key: RecordKey
    package var scope: ScopeID
    package var seq: SequenceNumber
    package var born: SequenceNumber
    package var isDeleted: Bool
    package var author: UserID
    package var created: Milliseconds
    package var updated: Milliseconds
    /// Canonical JSON of the fields; empty for a tombstone.
    package var body: [UInt8]
    /// The body of a tombstone as it was before the deletion, by which a restore is judged; it is never sent. Empty
    /// where it is unknown, and in records that are read to be sent.
    package var buried: [UInt8]

    package init(
        key: RecordKey, scope: ScopeID, seq: SequenceNumber, born: SequenceNumber, isDeleted: Bool, author: UserID,
        created: Milliseconds, updated: Milliseconds, body: [UInt8], buried: [UInt8] = []
    ) {
        self.key = key
        self.scope = scope
        self.seq = seq
        self.born = born
        self.isDeleted = isDeleted
        self.author = author
        self.created = created
        self.updated = updated
        self.body = body
        self.buried = buried
    }
}
