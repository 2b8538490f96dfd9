import GRDB
import TidemarkModel

/// What becomes of blobs: sent, refused, looked at, evicted, lost with their scope.
extension BlobTable {
    /// The server has it. If the scope was lost while the bytes were on their way, they go as all of the scope that the server
    /// has.
    func sent(_ key: BlobKey) throws {
        try db.run(
            "DELETE FROM tidemark_blob WHERE scope = ? AND digest = ? AND failure = ?",
            [key.scope.text, key.digest.text, BlobFailure.notThere.rawValue])
        guard db.changesCount == 0 else { return try sweep() }
        try db.run(
            """
            UPDATE tidemark_blob SET state = 'held', failure = NULL, last_error = NULL, attempts = attempts + 1
            WHERE scope = ? AND digest = ?
            """, [key.scope.text, key.digest.text])
    }

    /// It was tried in vain.
    ///
    /// - Parameter failure: `nil` when it is tried again by itself.
    func notSent(_ key: BlobKey, _ failure: BlobFailure?, error: String) throws {
        try db.run(
            """
            UPDATE tidemark_blob SET attempts = attempts + 1, failure = ?, last_error = ?
            WHERE scope = ? AND digest = ? AND state = 'waiting'
            """, [failure?.rawValue, error, key.scope.text, key.digest.text])
    }

    /// Lets what was refused be sent again.
    ///
    /// - Parameter key: `nil` for all.
    /// - Returns: false when there was nothing.
    @discardableResult
    func retry(_ key: BlobKey? = nil) throws -> Bool {
        if let key {
            try db.run(
                """
                UPDATE tidemark_blob SET failure = NULL, attempts = 0
                WHERE scope = ? AND digest = ? AND failure IS NOT NULL
                """, [key.scope.text, key.digest.text])
        } else {
            try db.run("UPDATE tidemark_blob SET failure = NULL, attempts = 0 WHERE failure IS NOT NULL")
        }
        return db.changesCount > 0
    }

    /// Somebody looked at it.
    func used(_ key: BlobKey, now: Milliseconds) throws {
        try db.run(
            "UPDATE tidemark_blob SET used = max(used, ?) WHERE scope = ? AND digest = ?",
            [now, key.scope.text, key.digest.text])
    }

    /// When somebody looked at it last.
    func lastUse(_ key: BlobKey) throws -> Milliseconds? {
        let sql = "SELECT used FROM tidemark_blob WHERE scope = ? AND digest = ?"
        return try db.first(sql, [key.scope.text, key.digest.text])?.integer(0)
    }

    // MARK: Removing

    /// Gives up a blob of this device's own that is not at the server.
    ///
    /// - Returns: false when there is none.
    func discard(_ key: BlobKey) throws -> Bool {
        try db.run(
            "DELETE FROM tidemark_blob WHERE scope = ? AND digest = ? AND state = 'waiting'",
            [key.scope.text, key.digest.text])
        let isGone = db.changesCount > 0
        try sweep()
        return isGone
    }

    /// The account may see nothing of the scope any more: what came from there goes, and what was to be sent there cannot
    /// be.
    func lose(_ scope: ScopeID) throws {
        try db.run("DELETE FROM tidemark_blob WHERE scope = ? AND state = 'held'", [scope.text])
        try db.run(
            "UPDATE tidemark_blob SET failure = ?, last_error = ? WHERE scope = ?",
            [BlobFailure.notThere.rawValue, "access to the scope ended", scope.text])
        try sweep()
    }

    /// The account may see the scope again: what it could not send there is tried once more.
    func regain(_ scope: ScopeID) throws {
        try db.run(
            "UPDATE tidemark_blob SET failure = NULL WHERE scope = ? AND failure = ?",
            [scope.text, BlobFailure.notThere.rawValue])
    }

    /// Forgets all that the server has too.
    func clearHeld() throws {
        try db.run("DELETE FROM tidemark_blob WHERE state = 'held'")
        try sweep()
    }

    /// Removes what nobody looked at for longest, until what the server has too fits.
    ///
    /// - Returns: how many went.
    @discardableResult
    func evict(above bytesMax: Int64?) throws -> Int {
        guard let bytesMax else { return 0 }
        var (excess, count) = (try bytes(in: .held) - bytesMax, 0)
        guard excess > 0 else { return 0 }
        for row in try db.all("SELECT scope, digest FROM tidemark_blob WHERE state = 'held' ORDER BY used, rowid") {
            guard excess > 0 else { break }
            let key = try row.blobKey(0)
            try db.run(
                "DELETE FROM tidemark_blob WHERE scope = ? AND digest = ?", [key.scope.text, key.digest.text])
            excess = try bytes(in: .held) - bytesMax
            count += 1
        }
        try sweep()
        return count
    }

    /// Removes bytes that no scope names any more.
    private func sweep() throws {
        try db.run("DELETE FROM tidemark_blob_bytes WHERE digest NOT IN (SELECT digest FROM tidemark_blob)")
    }
}
