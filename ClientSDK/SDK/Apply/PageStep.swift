import GRDB
import TidemarkModel
import TidemarkWire

/// The pages of one transaction.
struct PageStep {
    private let records: RecordTable
    private var rows: RowApplier
    private var rebase: Rebase
    /// The scopes that have pages among them.
    private var scopes: Set<ScopeID> = []
    /// The progress of each page that was not dropped: the point up to which its collection is filled.
    private var progress: [StatementArguments] = []

    var applied: Int { progress.count }

    private var db: Database { records.db }
    /// The decisions, for the log.
    var events: [SyncLogEvent] { rebase.events }

    init(_ records: RecordTable, rows: RowApplier) {
        self.records = records
        self.rows = rows
        rebase = Rebase(records: records)
    }

    mutating func take(_ page: PageAnswer, to request: PageRequest?) throws {
        let state = """
            SELECT s.since, p.floor FROM tidemark_scope_page AS p JOIN tidemark_scope AS s ON s.scope = p.scope
            WHERE p.scope = ? AND p.collection = ? AND \(ScopeTable.isToCome(in: "p"))
            """
        guard let row = try db.first(state, [page.scope.text, page.collection]),
            try row.integer(0) == page.since, try request.map({ try $0.before == row.optionalInteger(1) }) ?? true
        else { return }
        try rows.apply(page.changes, isFilling: true, rebase: &rebase)
        progress.append([page.changes.count, page.next, page.scope.text, page.collection])
        scopes.insert(page.scope)
    }

    /// Writes the pages taken so far.
    mutating func finish() throws {
        try rows.finish()
        try rebase.finish()
        for page in progress {
            try db.run(
                """
                UPDATE tidemark_scope_page
                SET remaining = max(0, remaining - ?1), is_complete = ?2 IS NULL,
                    floor = CASE WHEN ?2 IS NULL THEN floor ELSE min(coalesce(floor, ?2), ?2) END
                WHERE scope = ?3 AND collection = ?4
                """, page)
        }
        let table = ScopeTable(db: db)
        for scope in scopes.sorted() where try table.endIfFilled(scope) { try records.sweep(scope) }
        try table.noteChange()
    }
}
