import GRDB

/// The findings of SQLite's `quick_check`.
enum FileCheck {
    /// The first finding that is damage of the file; `nil` where there is none.
    ///
    /// A full-text index, which newer versions of SQLite look at as well, is made anew from the rows: nothing is lost with it.
    static func damage(in findings: [String]) -> String? {
        guard !findings.isEmpty else { return "no answer" }
        return findings.first { $0 != "ok" && !$0.contains("inverted index for FTS5 table") }
    }

    /// Takes the full-text indexes away; bringing the file to its schema makes them anew.
    static func dropSearch(_ db: Database) throws {
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'tidemark_search(*)'"
        for row in try db.all(indexes) {
            try db.execute(sql: "DROP TABLE \(CollectionTable.quoted(try row.text(0)))")
        }
    }
}
