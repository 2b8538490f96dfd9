import TidemarkModel

extension WorkspaceTables {
    /// Answers a call of compaction or erasure.
    mutating func answer(_ call: RowCall) -> RowAnswer {
        switch call {
        case .dropBatches(let seq, let limit):
            let gone = batches.prefix { $0.head.seq < seq }.prefix(limit).count
            batches.removeFirst(gone)
            firstBody = max(0, firstBody - gone)
            return RowAnswer(rows: gone)
        case .tombstones(let seq, let openers, let areOpeners, let limit):
            let dead = tombstones(through: seq).filter { record in
                openers.contains(record.key.collection) == areOpeners
                    && !(areOpeners && openers.contains { isLiving(RecordKey(collection: $0, id: record.key.id)) })
            }
            return found(dead.prefix(limit))
        case .records(let scope, let limit):
            return found(records.values.filter { $0.scope == scope }.sorted { $0.seq < $1.seq }.prefix(limit))
        case .forget(let records): return forget(records)
        case .dropLedgers(let records):
            return RowAnswer(ledgerEntries: records.reduce(0) { $0 + (ledger.removeValue(forKey: $1.key)?.count ?? 0) })
        case .dropOldLedger(let time, _):
            let before = ledger.values.reduce(0) { $0 + $1.count }
            ledger = ledger.mapValues { $0.filter { $0.time >= time } }.filter { !$0.value.isEmpty }
            return RowAnswer(ledgerEntries: before - ledger.values.reduce(0) { $0 + $1.count })
        case .dropMarks(let seq):
            endedMemberships.removeAll { $0.ended <= seq }
            erased = erased.filter { !$0.value.isOver || $0.value.through > seq }
            return RowAnswer()
        case .emptyBodies(let scope, _):
            endedMemberships.removeAll { $0.scope == scope }
            let through = erased[scope]?.through ?? 0
            let full = batches.indices.filter { batches[$0].head.seq <= through && batches[$0].batch != nil }
            for index in full { batches[index].batch = nil }
            return RowAnswer(rows: full.count)
        }
    }

    private func isLiving(_ key: RecordKey) -> Bool { records[key].map { !$0.isDeleted } ?? false }

    private func found(_ records: some Sequence<StoredRecord>) -> RowAnswer {
        RowAnswer(found: records.map { FoundRecord(key: $0.key, scope: $0.scope, isDeleted: $0.isDeleted) })
    }

    private mutating func forget(_ found: [FoundRecord]) -> RowAnswer {
        var answer = RowAnswer(rows: found.count)
        for record in found.compactMap({ records.removeValue(forKey: $0.key) }) {
            answer.ledgerEntries += ledger.removeValue(forKey: record.key)?.count ?? 0
            scopes[record.scope]?.remove(record)
        }
        return answer
    }
}
