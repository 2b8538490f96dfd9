import TidemarkModel

extension WorkspaceTables {
    /// Writes a batch. It checks everything first, so that a refused batch leaves no trace.
    mutating func write(
        _ batch: CommittedBatch, by writer: UInt64?, limits: StoreLimits
    ) throws(StoreError) {
        try batch.check(after: head)
        for record in batch.records {
            guard record.isDeleted || erased[record.scope] == nil else { throw .erasedScope }
            guard let stored = records[record.key] else { continue }
            guard stored.scope == record.scope, stored.born == record.born, stored.seq < record.seq else {
                throw StoreError(.invariant, "a record's scope and birth never change and its number rises")
            }
        }
        var settled: [StoredClient] = []
        for settlement in batch.settlements {
            guard let stored = clients[settlement.client.id] else {
                throw StoreError(.invariant, "only a registered client can be settled")
            }
            settled.append(try stored.settled(by: settlement))
        }

        guard batch.removals.allSatisfy({ clients[$0] != nil }) else {
            throw StoreError(.invariant, "only a registered client can be removed")
        }

        for record in batch.records { store(record) }
        for change in batch.memberships { store(change) }
        for entry in batch.ledger { store(entry, limits: limits) }
        for client in settled { clients[client.row.id] = client }
        for client in batch.removals { remove(client) }
        let isHeard = listeners.isHeard(at: batch.head.time, besides: writer)
        let body = limits.keepsBody(isHeard: isHeard) ? batch : nil
        batches.append(TailBatch(low: batch.low, head: batch.head, batch: body))
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        while firstBody < batches.count, batches[firstBody].head.seq <= gone {
            batches[firstBody].batch = nil
            firstBody += 1
        }
    }

    mutating func raiseEpoch(_ raise: EpochRaise, limits: StoreLimits) throws(StoreError) -> EpochOutcome {
        let found = raise.lookup.flatMap(batch(holding:))
        guard let step = raise.step(at: head, holding: found, horizon: horizon) else { return .stands(head) }
        try write(step.batch, by: nil, limits: limits)
        batches[batches.count - 1].batch = step.batch
        lineage.append(step.start)
        return .raised(step.start, head)
    }

    private mutating func store(_ record: StoredRecord) {
        let replaced = records.updateValue(record, forKey: record.key)
        scopes[record.scope, default: ScopeIndex()].append(record, isReplacing: replaced != nil, records: records)
    }

    private mutating func store(_ change: MembershipChange) {
        note(endOf: change)
        let since = change.since ?? grants[change.user]?[change.scope]?.since ?? change.begins
        grants[change.user, default: [:]][change.scope] = change.role.map {
            Grant(scope: change.scope, since: since, role: $0)
        }
    }
}
