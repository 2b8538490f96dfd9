import GRDB

/// The number that a transaction was given last, and how many were written; inside one SQLite transaction.
///
/// A write that gets the next number is the next one written, so the outbox itself says how far both are: beyond what is
/// kept as long as the last entry is there. A write thus changes no table for it. What goes another way keeps both.
struct OutboxCounts {
    var number: Int64
    /// The last place in the order of writing.
    var written: Int64

    init(number: Int64, written: Int64) {
        self.number = number
        self.written = written
    }

    init(_ db: Database) throws {
        let row = try db.first(Self.readSQL)
        let kept = try row?.optionalInteger(0) ?? 0
        number = max(kept, try row?.optionalInteger(2) ?? 0)
        written = (try row?.optionalInteger(1) ?? 0) + number - kept
    }

    private static let readSQL = """
        SELECT (SELECT value FROM tidemark_meta WHERE key = '\(Meta.lastNumber.rawValue)'),
            (SELECT value FROM tidemark_meta WHERE key = '\(Meta.lastWritten.rawValue)'),
            (SELECT max(n) FROM tidemark_outbox WHERE n < \(Withholding.firstPlace))
        """

    /// Notes both, whatever the outbox has.
    func keep(_ db: Database) throws {
        try Meta.lastNumber.set(number, db)
        try Meta.lastWritten.set(written, db)
    }

    /// Runs what takes an entry away from its number: should it be the last one, that was given all the same.
    static func keeping(_ number: Int64, _ db: Database, _ body: () throws -> Void) throws {
        let counts = try OutboxCounts(db)
        try body()
        if counts.number == number { try counts.keep(db) }
    }
}
