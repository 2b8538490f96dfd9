import GRDB
import TidemarkModel
import TidemarkWire

extension LocalDatabase {
    /// Requests a record that was evicted, or that the filling of its scope left at the server.
    func want(_ key: RecordKey, in scope: ScopeID) throws {
        try change { db in
            try RefetchTable(db: db).add(key, scope: scope)
            try ScopeTable(db: db).noteChange()
        }
    }

    /// Applies the answer to a request for records by their ids: records in it are the server's state, and
    /// records that are missing do not exist. The answer to a request of another grant is dropped.
    ///
    /// - Parameter ids: the ids that were requested; the page says how many of them, from the first on, it answers.
    /// - Returns: false when it was dropped.
    func apply(
        _ page: PageAnswer, toIDs ids: [LocalID], noting note: (SyncLogEvent) -> Void
    ) throws -> Bool {
        let events: [SyncLogEvent]? = try change(isConfirmed: false) { db in
            let scopes = ScopeTable(db: db)
            guard let held = try scopes.held(page.scope), held.since == page.since else { return nil }
            let records = RecordTable(db, self)
            var rebase = Rebase(records: records)
            var rows = try RowApplier(records, deletionsKept: limits.deletionsKept)
            try rows.apply(page.changes, isFilling: true, rebase: &rebase)
            try rows.finish()
            let came = Set(page.changes.map(\.key))
            for id in ids.prefix(page.next.map { Int(clamping: $0) } ?? ids.count) {
                let key = RecordKey(collection: page.collection, id: id)
                if !came.contains(key) { try noteAbsent(key, records, rebase: &rebase) }
                try RefetchTable(db: db).remove(key, scope: page.scope)
            }
            try rebase.finish()
            if try scopes.endIfFilled(page.scope) { try records.sweep(page.scope) }
            try scopes.noteChange()
            return rebase.events
        }
        for event in events ?? [] { note(event) }
        return events != nil
    }

    /// Notes that the server has no such record, unless a newer state arrived with the stream meanwhile.
    private func noteAbsent(_ key: RecordKey, _ records: RecordTable, rebase: inout Rebase) throws {
        if let base = try records.base(key) {
            guard base.seq == 0 else { return }
            try records.saveBase(
                LocalRecord(absent: key, scope: base.scope, author: base.author, created: base.created))
            rebase.touch(key)
        } else if let table = tables[key.collection] {
            try records.db.run(table.deleteOlderSQL, [key.id.description, 1])
        }
    }
}
