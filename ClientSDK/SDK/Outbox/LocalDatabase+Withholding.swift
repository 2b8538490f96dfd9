import GRDB
import TidemarkModel

extension LocalDatabase {
    /// Keeps a transaction from being sent that got no answer too often, with what stands behind it in its scopes. All of
    /// them stay to be seen, marked as failed, and every other scope goes on.
    ///
    /// - Parameters:
    ///   - reason: for a person to read.
    ///   - isAnswered: each attempt was answered with a failure: only the user or the app retries it.
    /// - Returns: what the transaction does.
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

    /// Lets what is withheld be sent again, in its order: with a new connection what met only silence, when it is asked for
    /// all of it. What the server has yet to say a word on stays withheld.
    ///
    /// - Parameter isAsked: the app wants it: what stays withheld follows with that word.
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

    /// Sends a withheld transaction again, with what is withheld in front of it and behind it in its scopes.
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
