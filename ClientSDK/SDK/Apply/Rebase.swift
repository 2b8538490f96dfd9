import TidemarkModel

/// Records whose base or pending writes changed, shown anew at the end of the same transaction.
struct Rebase {
    let records: RecordTable
    private var touched: Set<RecordKey> = []
    private var failed: Set<RecordKey> = []

    init(records: RecordTable) { self.records = records }

    /// The record must be shown anew.
    mutating func touch(_ key: RecordKey) { touched.insert(key) }

    /// The record must be shown anew without a write that was refused.
    mutating func fail(_ key: RecordKey) {
        touched.insert(key)
        failed.insert(key)
    }

    /// Makes each touched record's row its base plus what is pending, and forgets bases that nothing needs.
    func finish() throws {
        for key in touched.sorted() { try show(key) }
        for key in failed.sorted() { try records.mark(key, failed: true) }
    }

    private func show(_ key: RecordKey) throws {
        guard let base = try records.base(key), let table = records.tables[key.collection] else { return }
        let pending = try records.pending(key)
        guard pending.isEmpty else {
            return try records.show(base.folding(pending, in: table.collection), state: .pending)
        }
        try records.deleteBase(key)
        var settled = base
        // A base without a number is only remembered, or was never the server's: without pending writes there is no record.
        if base.seq == 0 { settled.existence = .absent }
        try records.show(settled, state: .synced)
        if settled.existence == .deleted, try ScopeTable(db: records.db).isFilling(base.scope) {
            try records.saveTombstone(key, scope: base.scope, seq: base.seq)
        }
    }
}
