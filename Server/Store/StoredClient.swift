package import TidemarkModel

/// A client as a store keeps it: its row, and beside it the outcomes that it has not acknowledged.
///
/// They are few, since a client acknowledges with each push what the last one brought: in the row they cost one column,
/// in a table of their own two more index entries for every transaction and as many dead ones.
package struct StoredClient: Hashable, Sendable {
    package var row: ClientRow
    /// Outcomes behind `row.ackedThrough`, rising in number.
    package var kept: [TransactionOutcome]

    package init(row: ClientRow, kept: [TransactionOutcome] = []) {
        self.row = row
        self.kept = kept
    }

    /// Outcomes that need no counting of bytes: as many are few whatever they say.
    package static let keptFew = 256

    /// The kept outcome of one transaction.
    package func result(_ number: Int64) -> TransactionOutcome? {
        // They rise in number, mostly without gaps.
        guard let first = kept.first, number >= first.number else { return nil }
        let guess = kept.index(0, offsetBy: Int(clamping: number - first.number), limitedBy: kept.count - 1)
        if let guess, kept[guess].number == number { return kept[guess] }
        return kept.first { $0.number == number }
    }

    /// What is to be stored after a settlement.
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

    /// Reads what ``keptBytes`` wrote.
    ///
    /// - Throws: `StoreError` of kind `invariant` when the bytes are something else.
    package init(row: ClientRow, keptBytes: [UInt8]) throws(StoreError) {
        self.init(row: row)
        // Our own bytes: the wire's count of elements does not apply.
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
