import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

extension BatchWrite {
    /// Old entries that go with each batch that brings new ones: more than those, so that they come to an end.
    private static let dropsPerBatch: Int64 = 200

    /// Writes the batch's ledger and keeps the bounds of its records; nothing is run for an empty one.
    func write(_ ledger: [LedgerEntry], at time: Milliseconds) throws {
        guard !ledger.isEmpty else { return }
        let insert = try Prepared(LedgerSQL.insert, db)
        for entry in ledger { try insert.execute { $0.ledgerEntry(entry, in: workspace) } }
        let trim = try Prepared(LedgerSQL.trim, db)
        for key in Set(ledger.map(\.key)).sorted() {
            try trim.execute {
                $0.key(workspace, key)
                $0.integer(Int64(limits.ledgerEntriesMax))
                $0.integer(Int64(limits.ledgerBytesMax))
            }
        }
        let (oldest, overflows) = time.subtractingReportingOverflow(limits.ledgerLifetime)
        guard !overflows else { return }
        try Prepared(LedgerSQL.dropOld, db).execute {
            $0.text(workspace.text)
            $0.integer(oldest)
            $0.integer(Self.dropsPerBatch)
        }
    }
}

extension Binding {
    fileprivate mutating func ledgerEntry(_ entry: LedgerEntry, in workspace: WorkspaceID) {
        key(workspace, entry.key)
        text(entry.scope.text)
        integer(entry.seq)
        text(entry.value.field)
        text(entry.value.rule.rawValue)
        optional(entry.value.old?.json)
        optional(entry.value.new?.json)
        optional(entry.oldAuthor?.text)
        text(entry.author.text)
        id(entry.client)
        optional(entry.app)
        integer(entry.time)
        integer(Int64(entry.octets))
    }

    private mutating func optional(_ value: String?) {
        if let value { text(value) } else { null() }
    }
}
