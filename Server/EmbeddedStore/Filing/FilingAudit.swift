import GRDB
import TidemarkModel
import TidemarkStore

/// Checks that searches by scope find all records, and nothing else.
struct FilingAudit {
    let records: Database

    func run(_ each: (Finding) -> Void) throws {
        for (sql, text) in Self.filed {
            try Prepared(sql, records).forEach({ _ in }) { row in
                let (workspace, seq) = (row.optionalText(), row.integer())
                each(Finding(.scope, workspace.map { WorkspaceID($0) }, "the record at \(seq) \(text)"))
                return true
            }
        }
    }

    /// While only few faults are found, this is one search for each record.
    private static let filed = [
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_scope s ON s.place = r.place
            WHERE s.workspace IS NOT r.workspace OR s.scope IS NOT r.scope
            """, "has the place of another scope"
        ),
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_feed f ON f.place = r.place AND f.seq = r.seq
            WHERE r.row <= (SELECT through FROM sync_filing) AND f.row IS NOT r.row
            """, "is missing in sync_feed: no device receives it"
        ),
        (
            """
            SELECT r.workspace, r.seq
            FROM sync_record r
            LEFT JOIN sync_page p ON p.place = r.place AND p.collection = r.collection AND p.born = r.born
            WHERE r.deleted = 0 AND r.row <= (SELECT through FROM sync_filing) AND p.row IS NOT r.row
            """, "is missing in sync_page: no device that fills its scope gets it"
        ),
        (
            """
            SELECT s.workspace, f.seq
            FROM sync_feed f
            LEFT JOIN sync_record r ON r.row = f.row
            LEFT JOIN sync_scope s ON s.place = f.place
            WHERE r.seq IS NOT f.seq OR r.place IS NOT f.place
            """, "is listed in sync_feed, but does not exist or has another number or scope"
        ),
        (
            """
            SELECT s.workspace, p.born
            FROM sync_page p
            LEFT JOIN sync_record r ON r.row = p.row
            LEFT JOIN sync_scope s ON s.place = p.place
            WHERE r.born IS NOT p.born OR r.place IS NOT p.place OR r.deleted IS NOT 0
            """, "is listed in sync_page, but does not exist, is deleted, or has another birth or scope"
        ),
    ]
}
