package import TidemarkModel

extension CommittedBatch {
    /// Checks everything that can be judged without the stored rows: tiling, numbers within the batch, order.
    ///
    /// What remains for the store itself: scope and born of an existing record, the client's stored row.
    /// - Throws: `StoreError` of kind `invariant`; nothing may be written then.
    package func check(after previous: Head) throws(StoreError) {
        guard low > 0, low - 1 == previous.seq, head.seq >= low else {
            throw StoreError(.invariant, "a batch must begin right after the head and hold at least one number")
        }
        var last = previous.seq
        var keys = Set<RecordKey>(minimumCapacity: records.count)
        for record in records {
            guard record.seq > last, record.seq <= head.seq else {
                throw StoreError(.invariant, "records must have rising numbers inside their batch")
            }
            guard record.born > 0, record.born <= record.seq else {
                throw StoreError(.invariant, "a record must be born at or before its number")
            }
            guard keys.insert(record.key).inserted else {
                throw StoreError(.invariant, "a batch must name each record once")
            }
            last = record.seq
        }
        for change in memberships where !(low...head.seq).contains(change.seq) || change.begins > change.seq {
            throw StoreError(.invariant, "a membership must change inside its batch")
        }
        for entry in ledger where !(low...head.seq).contains(entry.seq) {
            throw StoreError(.invariant, "a ledger entry must belong to a write of its batch")
        }
        try checkSettlements()
    }

    private func checkSettlements() throws(StoreError) {
        var clients = Set<ClientID>(minimumCapacity: settlements.count)
        for client in removals where !clients.insert(client).inserted {
            throw StoreError(.invariant, "a batch must remove each client once")
        }
        for settlement in settlements {
            guard clients.insert(settlement.client.id).inserted else {
                throw StoreError(.invariant, "a batch must settle each client once")
            }
            var last: Int64 = 0
            for result in settlement.results {
                guard result.number > last else {
                    throw StoreError(.invariant, "results must rise in number")
                }
                last = result.number
            }
            guard last <= settlement.client.settledThrough else {
                throw StoreError(.invariant, "a result must not lie beyond its client's settled number")
            }
        }
    }
}

extension MembershipChange {
    /// When a membership begins that this change finds missing.
    package var begins: SequenceNumber { since ?? seq }
}

extension Settlement {
    /// The highest stored `settledThrough` that this settlement may follow: numbers are settled once.
    package var settledBeforeMax: Int64 {
        guard let first = results.first else { return client.settledThrough }
        return min(client.settledThrough, first.number - 1)
    }
}

extension StoreLimits {
    /// The rows of a page asked for with `limit`: at least one, at most `pageRowsMax`.
    package func pageRows(_ limit: Int) -> Int { min(max(limit, 1), max(pageRowsMax, 1)) }

    /// The number that a window of at least `span` numbers after `seq` must reach.
    package static func target(after seq: SequenceNumber, span: Int64) -> SequenceNumber {
        let (sum, overflows) = seq.addingReportingOverflow(max(span, 1))
        return overflows ? .max : sum
    }

    /// Whether a batch is stored with its body.
    package func keepsBody(isHeard: Bool) -> Bool { isHeard || logLifetime > 0 }

    /// Bodies of batches that end at or before this number are no longer kept.
    package func bodiesGoneThrough(head: SequenceNumber) -> SequenceNumber { max(0, head - max(tailSpan, 0)) }
}
