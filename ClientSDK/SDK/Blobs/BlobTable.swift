import Foundation
import GRDB
import TidemarkModel

/// The blobs on the device, inside one SQLite transaction.
struct BlobTable {
    enum State: String {
        /// To be sent; never evicted.
        case waiting
        /// On the server, too.
        case held
    }

    let db: Database

    // MARK: Keeping

    /// Stores bytes of this device, to be sent. A blob that reached the server, or came from it, within a day is not
    /// sent again. An older one is, because a server deletes blobs that no record refers to.
    ///
    /// - Throws: `StoreError` with `tooLarge` or `quota` refused; nothing is then stored.
    func keep(_ bytes: Data, as key: BlobKey, policy: BlobPolicy, now: Milliseconds) throws {
        guard bytes.count <= policy.maxBytes else {
            throw StoreError(Rejection(.tooLarge, "a blob of \(bytes.count) bytes; the limit is \(policy.maxBytes)"))
        }
        // Keeping a refused blob again is a request to send it.
        try db.run(
            "UPDATE tidemark_blob SET used = ?, failure = NULL WHERE scope = ? AND digest = ?",
            [now, key.scope.text, key.digest.text])
        guard db.changesCount == 0 else { return try sendAgain(bytes.count, key, policy, now) }
        try checkRoom(bytes.count, policy)
        try insert(bytes, key, .waiting, now)
    }

    /// The milliseconds for which a server certainly keeps a blob: it deletes nothing within days.
    private static let keptFor: Milliseconds = 86_400_000

    private func sendAgain(_ size: Int, _ key: BlobKey, _ policy: BlobPolicy, _ now: Milliseconds) throws {
        let isOld = "scope = ? AND digest = ? AND state = 'held' AND created <= ?"
        let row: [any DatabaseValueConvertible] = [key.scope.text, key.digest.text, now - Self.keptFor]
        guard try db.exists("SELECT 1 FROM tidemark_blob WHERE \(isOld)", StatementArguments(row)) else { return }
        try checkRoom(size, policy)
        try db.run(
            "UPDATE tidemark_blob SET state = 'waiting', created = ?, attempts = 0 WHERE \(isOld)",
            StatementArguments([now] + row))
    }

    private func checkRoom(_ size: Int, _ policy: BlobPolicy) throws {
        let waiting = try bytes(in: .waiting)
        guard waiting + Int64(size) <= policy.maxWaitingBytes else {
            throw StoreError(
                Rejection(.quota, "\(waiting) bytes wait to be sent; the limit is \(policy.maxWaitingBytes)"))
        }
    }

    /// Stores bytes from the server, if the scope is still held.
    ///
    /// - Returns: false when it is not: the access may have ended during the download.
    func hold(_ bytes: Data, as key: BlobKey, now: Milliseconds) throws -> Bool {
        guard try db.exists("SELECT 1 FROM tidemark_scope WHERE scope = ?", [key.scope.text]) else { return false }
        if try state(key) == nil { try insert(bytes, key, .held, now) }
        return true
    }

    private func insert(_ bytes: Data, _ key: BlobKey, _ state: State, _ now: Milliseconds) throws {
        try db.run(
            "INSERT INTO tidemark_blob (scope, digest, state, size, created, used) VALUES (?, ?, ?, ?, ?, ?)",
            [key.scope.text, key.digest.text, state.rawValue, bytes.count, now, now])
        try db.run(
            "INSERT OR IGNORE INTO tidemark_blob_bytes (digest, bytes) VALUES (?, ?)", [key.digest.text, bytes])
    }

    // MARK: Reading

    /// Returns the bytes, if they are stored for this scope.
    func bytes(_ key: BlobKey) throws -> Data? {
        let sql = """
            SELECT t.bytes FROM tidemark_blob AS b JOIN tidemark_blob_bytes AS t ON t.digest = b.digest
            WHERE b.scope = ? AND b.digest = ?
            """
        guard let row = try db.first(sql, [key.scope.text, key.digest.text]) else { return nil }
        return try row.blob(0)
    }

    /// Returns the blobs that are not on the server yet, oldest first.
    func unsent() throws -> [UnsentBlob] {
        let sql = """
            SELECT scope, digest, size, created, attempts, failure, last_error FROM tidemark_blob
            WHERE state = 'waiting' ORDER BY created, rowid
            """
        return try db.all(sql).map { row in
            let key = try row.blobKey(0)
            return UnsentBlob(
                digest: key.digest, scope: key.scope, byteCount: Int(try row.integer(2)),
                addedAt: Date(milliseconds: try row.integer(3)), attempts: Int(try row.integer(4)),
                failure: try row.optionalText(5).map { BlobFailure(rawValue: $0) ?? .invalid },
                lastError: try row.optionalText(6))
        }
    }

    func state(_ key: BlobKey) throws -> State? {
        let sql = "SELECT state FROM tidemark_blob WHERE scope = ? AND digest = ?"
        return try db.first(sql, [key.scope.text, key.digest.text]).flatMap { State(rawValue: try $0.text(0)) }
    }

    func status(_ key: BlobKey) throws -> BlobStatus {
        let sql = "SELECT state, failure FROM tidemark_blob WHERE scope = ? AND digest = ?"
        guard let row = try db.first(sql, [key.scope.text, key.digest.text]) else { return .absent }
        guard try row.text(0) == State.waiting.rawValue else { return .held }
        return try row.optionalText(1).map { .rejected(BlobFailure(rawValue: $0) ?? .invalid) } ?? .waiting
    }

    /// Returns the bytes of the blobs in that state; a blob in several scopes counts once.
    func bytes(in state: State) throws -> Int64 {
        let sql = "SELECT coalesce(sum(size), 0) FROM (SELECT DISTINCT digest, size FROM tidemark_blob WHERE state = ?)"
        return try db.first(sql, [state.rawValue])?.integer(0) ?? 0
    }

    /// Returns the next blobs to send: in scopes that the server has granted, those with the fewest attempts first.
    func next(limit: Int) throws -> [BlobKey] {
        let sql = """
            SELECT scope, digest FROM tidemark_blob
            WHERE state = 'waiting' AND failure IS NULL AND scope IN (SELECT scope FROM tidemark_scope)
            ORDER BY attempts, created, rowid
            LIMIT ?
            """
        return try db.all(sql, [limit]).map { try $0.blobKey(0) }
    }
}

extension Row {
    func blob(_ index: Int) throws -> Data {
        switch (self[index] as DatabaseValue).storage {
        case .blob(let bytes): return bytes
        case .null, .int64, .double, .string: throw StoreError(.corrupt, "column \(index) does not contain bytes")
        }
    }

    /// Reads a scope and a digest from adjacent columns.
    func blobKey(_ index: Int) throws -> BlobKey {
        guard let digest = BlobDigest(checking: try text(index + 1)) else {
            throw StoreError(.corrupt, "column \(index + 1) does not contain a digest")
        }
        return BlobKey(scope: ScopeID(try text(index)), digest: digest)
    }
}
