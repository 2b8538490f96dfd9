import GRDB

extension LocalDatabase {
    /// Keeps a transaction from being sent that got no answer too often, with what stands behind it in its scopes. All of
    /// them stay to be seen, marked as failed, and every other scope goes on.
    ///
    /// - Parameter reason: for a person to read.
    package func withhold(_ number: Int64, reason: String) throws {
        try change { db in
            var rebase = Rebase(records: RecordTable(db, self))
            for key in try Withholding(db: db).withdraw(number, reason: reason) { rebase.touch(key) }
            try rebase.finish()
        }
    }

    /// Lets everything withheld be sent again, in its order; what the server has yet to say a word on stays withheld.
    ///
    /// - Parameter isAsked: the app wants it: what stays withheld follows with that word.
    package func releaseWithheld(isAsked: Bool = false) throws {
        try change { db in try releaseWithheld(isAsked: isAsked, db) }
    }

    func releaseWithheld(isAsked: Bool, _ db: Database) throws {
        if isAsked { try Withholding(db: db).want() }
        var rebase = Rebase(records: RecordTable(db, self))
        for key in try Withholding(db: db).release() { rebase.touch(key) }
        try rebase.finish()
    }
}
