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
        let kept = try Meta.lastNumber.integer(db) ?? 0
        let last = "SELECT max(n) FROM tidemark_outbox WHERE n < \(Withholding.firstPlace)"
        number = max(kept, try db.first(last)?.optionalInteger(0) ?? 0)
        written = try (Meta.lastWritten.integer(db) ?? 0) + number - kept
    }

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
