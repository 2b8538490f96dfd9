import GRDB

/// The findings of SQLite's `quick_check`.
enum FileCheck {
    /// Returns the first finding that is damage of the file; `nil` without one.
    ///
    /// Newer versions of SQLite also check full-text indexes. These are rebuilt from the rows: nothing is lost with
    /// them.
    static func damage(in findings: [String]) -> String? {
        guard !findings.isEmpty else { return "no answer" }
        return findings.first { $0 != "ok" && !$0.contains("inverted index for FTS5 table") }
    }

    /// Drops the full-text indexes; bringing the file to its schema creates them anew.
    static func dropSearch(_ db: Database) throws {
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'tidemark_search(*)'"
        for row in try db.all(indexes) {
            try db.execute(sql: "DROP TABLE \(CollectionTable.quoted(try row.text(0)))")
        }
    }
}
