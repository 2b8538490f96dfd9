import TidemarkModel

extension WorkspaceTables {
    mutating func store(_ entry: LedgerEntry, limits: StoreLimits) {
        // Removed while it changes, so that the array is not copied.
        var entries = ledger.removeValue(forKey: entry.key) ?? []
        let index = entries.firstIndex { $0.seq < entry.seq || $0.value.field > entry.value.field } ?? entries.count
        entries.insert(entry, at: index)
        if let gone = limits.ledgerGone(entries) { entries.removeAll { $0.seq <= gone } }
        ledger[entry.key] = entries
    }

    func history(
        of key: RecordKey, scope: ScopeID, before: SequenceNumber, limit: Int, limits: StoreLimits
    ) -> LedgerPage {
        let entries = (ledger[key] ?? []).filter { $0.scope == scope && $0.seq < before }
        return LedgerPage(entries, at: head, limit: limit, limits: limits)
    }
}
