import TidemarkModel

extension WorkspaceTables {
    /// Checks everything first, so that a refused batch leaves no trace.
    mutating func write(_ batch: CommittedBatch, limits: StoreLimits) throws(StoreError) {
        try batch.check(after: head)
        for record in batch.records {
            guard let stored = records[record.key] else { continue }
            guard stored.scope == record.scope, stored.born == record.born, stored.seq < record.seq else {
                throw StoreError(.invariant, "a record's scope and birth never change and its number rises")
            }
        }
        for settlement in batch.settlements { try check(settlement) }

        for record in batch.records { store(record) }
        for change in batch.memberships { store(change) }
        for settlement in batch.settlements { store(settlement) }
        let isHeard = listeners.isHeard(at: batch.head.time)
        batches.append(TailBatch(low: batch.low, head: batch.head, batch: isHeard ? batch : nil))
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        while firstBody < batches.count, batches[firstBody].head.seq <= gone {
            batches[firstBody].batch = nil
            firstBody += 1
        }
    }

    private func check(_ settlement: Settlement) throws(StoreError) {
        let client = settlement.client
        guard let stored = clients[client.id], stored.user == client.user else {
            throw StoreError(.invariant, "only a client that its user registered can be settled")
        }
        guard stored.settledThrough <= settlement.settledBeforeMax, stored.ackedThrough <= client.ackedThrough,
            stored.connection <= client.connection
        else { throw StoreError(.invariant, "a client's numbers never go back") }
    }

    private mutating func store(_ record: StoredRecord) {
        let replaced = records.updateValue(record, forKey: record.key)
        scopes[record.scope, default: ScopeIndex()].append(record, isReplacing: replaced != nil, records: records)
    }

    private mutating func store(_ change: MembershipChange) {
        let since = change.since ?? grants[change.user]?[change.scope]?.since ?? change.begins
        grants[change.user, default: [:]][change.scope] = change.role.map {
            Grant(scope: change.scope, since: since, role: $0)
        }
    }

    private mutating func store(_ settlement: Settlement) {
        let client = settlement.client
        clients[client.id] = client
        var kept = results[client.id] ?? []
        kept.append(contentsOf: settlement.results)
        results[client.id] = Array(kept.drop { $0.number <= client.ackedThrough })
    }
}
