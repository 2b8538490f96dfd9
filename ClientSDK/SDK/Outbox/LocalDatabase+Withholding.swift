import GRDB
import TidemarkModel

extension LocalDatabase {
    /// Withholds a transaction that got no answer too often, together with those behind it in its scopes. All of them
    /// stay visible, marked as failed, and every other scope continues.
    ///
    /// - Parameters:
    ///   - reason: a text for the user to read.
    ///   - isAnswered: true when each attempt was answered with a failure: then only the user or the app retries it.
    /// - Returns: a summary of the transaction's writes, for the log.
    @discardableResult
    package func withhold(_ number: Int64, reason: String, isAnswered: Bool = false) throws -> LoggedWrites {
        try change { db in
            let entries = try OutboxTable(db: db).entries(after: number - 1, through: number)
            let writes = LoggedWrites(try entries.flatMap { try $0.transaction().mutations })
            var rebase = Rebase(records: RecordTable(db, self))
            let withholding = Withholding(db: db)
            for key in try withholding.withdraw(number, reason: reason, isAnswered: isAnswered) { rebase.touch(key) }
            try rebase.finish()
            return writes
        }
    }

    /// Lets withheld transactions be sent again, in their order: on a new connection those that met only silence, on
    /// request all of them. Those whose number the server has not answered yet stay withheld.
    ///
    /// - Parameter isAsked: true when the app requests it; the rest then follows with the server's answer.
    package func releaseWithheld(isAsked: Bool = false) throws {
        try change { db in try releaseWithheld(isAsked: isAsked, db) }
    }

    func releaseWithheld(isAsked: Bool, _ db: Database) throws {
        if isAsked { try Withholding(db: db).want(isAll: true) }
        var rebase = Rebase(records: RecordTable(db, self))
        for key in try Withholding(db: db).release(isAsked: isAsked) { rebase.touch(key) }
        try rebase.finish()
    }

    /// Gives a withheld transaction up.
    ///
    /// - Throws: `StoreError` with `notFound` when it is not withheld any more.
    func discardWithheld(_ id: TransactionID, _ db: Database) throws {
        var rebase = Rebase(records: RecordTable(db, self))
        for key in try Withholding(db: db).discard(withheld(id, db)) { rebase.touch(key) }
        try rebase.finish()
    }

    /// Sends a withheld transaction again, with those withheld in front of it and behind it in its scopes.
    ///
    /// - Throws: `StoreError` with `notFound` when it is not withheld any more.
    func retryWithheld(_ id: TransactionID, _ db: Database) throws {
        var rebase = Rebase(records: RecordTable(db, self))
        for key in try Withholding(db: db).retry(withheld(id, db)) { rebase.touch(key) }
        try rebase.finish()
    }

    private func withheld(_ id: TransactionID, _ db: Database) throws -> OutboxEntry {
        guard let entry = try OutboxTable(db: db).entry(id), entry.state.isWithheld else {
            throw StoreError(.notFound, "no transaction \(id) is withheld")
        }
        return entry
    }
}
