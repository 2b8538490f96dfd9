import GRDB
import TidemarkModel

@testable import Tidemark

/// I-26 on a device: the data that it keeps in case the database goes back stays within its limits, and its own count
/// of that data is right.
struct KeptCheck {
    let limits: LocalLimits

    func run(_ db: Database) throws {
        func count(_ sql: String) throws -> Int64 { try Int64.fetchOne(db, sql: sql) ?? 0 }
        func atMost(_ most: Int64, _ name: String, _ sql: String) throws {
            let found = try count(sql)
            try check(found <= most, .bounds, "\(found) \(name), of \(most)")
        }
        try atMost(Int64(limits.pastCursorsKept), "past cursors", "SELECT count(*) FROM tidemark_past")
        let deletions = limits.deletionsKept + limits.deletionsKept / 4
        try atMost(Int64(deletions), "deletions", "SELECT count(*) FROM tidemark_deletion")
        try atMost(
            limits.rescueBytesMax, "bytes rescued",
            "SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM tidemark_rescue")
        let settled = """
            SELECT coalesce(sum(length(CAST(body AS BLOB))), 0) FROM tidemark_outbox WHERE state IN ('settled', 'refused')
            """
        let counted = try Meta.journalBytes.integer(db) ?? 0
        try check(try count(settled) == counted, .bounds, "\(counted) bytes in the journal, as it says")
        try atMost(limits.journalBytesMax, "bytes in the journal", settled)
    }
}
