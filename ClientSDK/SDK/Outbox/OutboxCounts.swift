import GRDB

/// The last transaction number given, and the number of transactions written. Works inside one SQLite transaction.
///
/// A write that gets the next number is also the next one written. The outbox itself therefore gives both counts as
/// long as its last entry is stored, and a write changes no other table for them. Any other operation stores both.
struct OutboxCounts {
    var number: Int64
    /// The last index in the order of writing.
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
            (SELECT max(n) FROM tidemark_outbox WHERE n < \(Withholding.firstWaitingNumber))
        """

    /// Stores both counts, whatever the outbox contains.
    func keep(_ db: Database) throws {
        try Meta.lastNumber.set(number, db)
        try Meta.lastWritten.set(written, db)
    }

    /// Runs a step that removes an entry from its number. If it was the last number, the counts are stored, so that it
    /// is not given again.
    static func keeping(_ number: Int64, _ db: Database, _ body: () throws -> Void) throws {
        let counts = try OutboxCounts(db)
        try body()
        if counts.number == number { try counts.keep(db) }
    }
}
