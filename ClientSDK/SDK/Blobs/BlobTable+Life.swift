import GRDB
import TidemarkModel

/// The later life of blobs: sent, refused, used, evicted, lost with their scope.
extension BlobTable {
    /// Notes that the server has the blob. If the scope was lost during the upload, the bytes are deleted like
    /// everything of that scope that the server has.
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

    /// Notes a failed attempt.
    ///
    /// - Parameter failure: `nil` when the blob is tried again automatically.
    func notSent(_ key: BlobKey, _ failure: BlobFailure?, error: String) throws {
        try db.run(
            """
            UPDATE tidemark_blob SET attempts = attempts + 1, failure = ?, last_error = ?
            WHERE scope = ? AND digest = ? AND state = 'waiting'
            """, [failure?.rawValue, error, key.scope.text, key.digest.text])
    }

    /// Marks refused blobs to be sent again.
    ///
    /// - Parameter key: the blob; `nil` for all.
    /// - Returns: false when no blob was refused.
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

    /// Notes a use of the blob.
    func used(_ key: BlobKey, now: Milliseconds) throws {
        try db.run(
            "UPDATE tidemark_blob SET used = max(used, ?) WHERE scope = ? AND digest = ?",
            [now, key.scope.text, key.digest.text])
    }

    /// Returns the time of the last use.
    func lastUse(_ key: BlobKey) throws -> Milliseconds? {
        let sql = "SELECT used FROM tidemark_blob WHERE scope = ? AND digest = ?"
        return try db.first(sql, [key.scope.text, key.digest.text])?.integer(0)
    }

    // MARK: Removing

    /// Deletes a blob of this device that is not on the server.
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

    /// Ends access to a scope: blobs that the server has are deleted, and blobs that still had to be sent are marked as
    /// failed.
    func lose(_ scope: ScopeID) throws {
        try db.run("DELETE FROM tidemark_blob WHERE scope = ? AND state = 'held'", [scope.text])
        try db.run(
            "UPDATE tidemark_blob SET failure = ?, last_error = ? WHERE scope = ?",
            [BlobFailure.notThere.rawValue, "access to the scope ended", scope.text])
        try sweep()
    }

    /// Restores access to a scope: blobs that could not be sent there are tried once more.
    func regain(_ scope: ScopeID) throws {
        try db.run(
            "UPDATE tidemark_blob SET failure = NULL WHERE scope = ? AND failure = ?",
            [scope.text, BlobFailure.notThere.rawValue])
    }

    /// Deletes all blobs that the server also has.
    func clearHeld() throws {
        try db.run("DELETE FROM tidemark_blob WHERE state = 'held'")
        try sweep()
    }

    /// Evicts the least recently used blobs that the server also has, until the rest fits.
    ///
    /// - Returns: the number of evicted blobs.
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

    /// Deletes bytes that no scope refers to.
    private func sweep() throws {
        try db.run("DELETE FROM tidemark_blob_bytes WHERE digest NOT IN (SELECT digest FROM tidemark_blob)")
    }
}
