import Foundation
import GRDB
import TidemarkModel

/// Evicts the oldest records from the device, inside one SQLite transaction.
///
/// The device has all records of a collection in a scope from a creation number on, the floor. Evicting therefore
/// raises the floor. Below it there are only unsent records, those that they refer to, and those that changed since.
struct Eviction {
    private let records: RecordTable
    private let policy: CachePolicy
    private let collections: [CollectionSchema]
    /// The ids of records that must stay, as a JSON array.
    private let kept: String
    private var scopes: Set<ScopeID> = []

    /// The end of the evicted records: by time, and by number among records of one moment, as a large batch has them.
    private struct Cutoff {
        var time: Milliseconds
        var number: SequenceNumber = 0
    }

    private var db: Database { records.db }

    init(_ database: LocalDatabase, _ db: Database, policy: CachePolicy) throws {
        records = RecordTable(db, database)
        self.policy = policy
        collections = database.schema.collections.filter(\.isEvictable)
        kept = try KeptRecords(db: db, database: database).json()
    }

    /// - Returns: the number of records evicted.
    mutating func run(now: Milliseconds) throws -> Int {
        var count = 0
        if let age = policy.age {
            let cutoff = Cutoff(time: now - age.components.seconds * 1_000)
            for collection in collections { count += try evict(collection, before: cutoff, newestKept: 0) }
        }
        if let rows = policy.maxRows {
            for collection in collections { count += try evict(collection, beyond: rows) }
        }
        for (scope, rows) in try KeepingTable(db: db).bounded() { count += try evict(scope, keepingLast: rows) }
        if let bytes = policy.maxBytes { count += try evict(above: bytes) }
        return try finish(count)
    }

    /// Evicts records of one scope only, whatever the policy is.
    mutating func run(_ scope: ScopeID, keepingLast rows: Int) throws -> Int {
        guard try KeepingTable(db: db).retention(of: scope) != .pinned else { return 0 }
        return try finish(evict(scope, keepingLast: rows))
    }

    private func finish(_ count: Int) throws -> Int {
        for scope in scopes where try ScopeTable(db: db).endIfFilled(scope) { try records.sweep(scope) }
        if count > 0 {
            try ScopeTable(db: db).noteChange()
            try Meta.evicted.set((Meta.evicted.integer(db) ?? 0) + Int64(count), db)
        }
        return count
    }

    // MARK: What is evicted

    private mutating func evict(_ scope: ScopeID, keepingLast rows: Int) throws -> Int {
        var count = 0
        for collection in collections {
            let table = CollectionTable.quoted(collection.name)
            guard let floor = try rows > 0 ? newest(rows, of: scope, table) : next(of: scope, table) else { continue }
            count += try raise(collection, scope, to: floor)
        }
        return count
    }

    private mutating func evict(_ collection: CollectionSchema, beyond rows: Int) throws -> Int {
        let table = CollectionTable.quoted(collection.name)
        // Scopes with a number of their own are handled separately.
        let crowded = """
            SELECT scope FROM \(table) WHERE scope NOT IN (SELECT scope FROM tidemark_keeping)
            GROUP BY scope HAVING count(server_id) > ?
            """
        var count = 0
        for row in try db.all(crowded, [rows]) {
            let scope = ScopeID(try row.text(0))
            guard let floor = try newest(rows, of: scope, table) else { continue }
            count += try raise(collection, scope, to: floor)
        }
        return count
    }

    private mutating func evict(
        _ collection: CollectionSchema, before cutoff: Cutoff, newestKept: Int
    ) throws -> Int {
        let table = CollectionTable.quoted(collection.name)
        let old = """
            SELECT DISTINCT scope FROM \(table)
            WHERE created_time <= ? AND state = 'synced' AND scope NOT IN (\(KeepingTable.pinned))
            """
        let young = """
            SELECT coalesce(
                min(server_id) FILTER (WHERE created_time > ?1 OR (created_time = ?1 AND server_id >= ?2)),
                max(server_id) + 1
            )
            FROM \(table)
            WHERE scope = ?3
            """
        var count = 0
        for row in try db.all(old, [cutoff.time]) {
            let scope = ScopeID(try row.text(0))
            guard var floor = try db.first(young, [cutoff.time, cutoff.number, scope.text])?.optionalInteger(0)
            else { continue }
            if newestKept > 0 {
                guard let kept = try newest(newestKept, of: scope, table) else { continue }
                floor = min(floor, kept)
            }
            count += try raise(collection, scope, to: floor)
        }
        return count
    }

    /// Evicts the oldest records of all collections; the right number is found by trying.
    private mutating func evict(above bytesMax: Int64) throws -> Int {
        guard !collections.isEmpty, try usedBytes() > bytesMax else { return 0 }
        let goal = bytesMax / 10 * 9
        let all = collections.map {
            "SELECT created_time, server_id FROM \(CollectionTable.quoted($0.name)) WHERE state = 'synced'"
        }
        .joined(separator: " UNION ALL ")
        let rows = try db.first("SELECT count(*) FROM (\(all))")?.integer(0) ?? 0
        var (count, share) = (0, 1 - Double(goal) / Double(try usedBytes()))
        while try usedBytes() > goal {
            let index = min(rows, Int64(Double(rows) * share) + 1)
            let sql = "SELECT created_time, server_id FROM (\(all)) ORDER BY created_time, server_id LIMIT 1 OFFSET ?"
            // Evicted records are not counted again: this is the next of the rest.
            let row = try db.first(sql, [max(0, index - Int64(count))])
            let cutoff = try row.map { Cutoff(time: try $0.integer(0), number: try $0.optionalInteger(1) ?? 0) }
            for collection in collections {
                count += try evict(
                    collection, before: cutoff ?? Cutoff(time: .max), newestKept: max(1, policy.newestKept))
            }
            guard share < 1 else { break }
            share = min(1, share + 0.1)
        }
        return count
    }

    /// Returns the creation number from which on there are this many rows; `nil` when there are fewer.
    private func newest(_ rows: Int, of scope: ScopeID, _ table: String) throws -> SequenceNumber? {
        let sql = """
            SELECT server_id FROM \(table)
            WHERE scope = ? AND server_id IS NOT NULL
            ORDER BY server_id DESC
            LIMIT 1 OFFSET ?
            """
        return try db.first(sql, [scope.text, max(0, rows - 1)])?.integer(0)
    }

    /// Returns the creation number after all present ones; `nil` when there are none.
    private func next(of scope: ScopeID, _ table: String) throws -> SequenceNumber? {
        try db.first("SELECT max(server_id) + 1 FROM \(table) WHERE scope = ?", [scope.text])?.optionalInteger(0)
    }

    private mutating func raise(
        _ collection: CollectionSchema, _ scope: ScopeID, to floor: SequenceNumber
    ) throws -> Int {
        let table = CollectionTable.quoted(collection.name)
        // A row with the number 0 waits for the server's state, which is being fetched: it would come back at once.
        try db.run(
            """
            DELETE FROM \(table)
            WHERE scope = ? AND server_id < ? AND state = 'synced' AND seq > 0
                AND local_id NOT IN (SELECT value FROM json_each(?))
                AND NOT EXISTS (
                    SELECT 1 FROM tidemark_base
                    WHERE tidemark_base.collection = ? AND tidemark_base.local_id = \(table).local_id
                )
            """, [scope.text, floor, kept, collection.name])
        let count = db.changesCount
        guard count > 0 else { return 0 }
        // If filling has not begun, the copy has no floor to raise.
        try db.run(
            """
            UPDATE tidemark_scope_page
            SET floor = CASE is_complete WHEN 1 THEN ? ELSE max(floor, ?) END, is_complete = 0, remaining = 0
            WHERE scope = ? AND collection = ? AND (floor IS NOT NULL OR is_complete = 1)
            """, [floor, floor, scope.text, collection.name])
        try db.run("UPDATE tidemark_scope SET is_complete = 0 WHERE scope = ?", [scope.text])
        scopes.insert(scope)
        return count
    }

    /// Returns the bytes of the file that are in use.
    private func usedBytes() throws -> Int64 { try FileSize(db: db).used() }
}

/// The size of a database.
struct FileSize {
    let db: Database

    func total() throws -> Int64 { try pragma("page_count") * pragma("page_size") }

    /// Returns the size without the space free for the next rows, and without blobs, which have limits of their own.
    func used() throws -> Int64 {
        let blobs = try db.first("SELECT coalesce(sum(length(bytes)), 0) FROM tidemark_blob_bytes")?.integer(0) ?? 0
        return try max(0, total() - free() - blobs)
    }

    /// Returns the bytes that are free for the next rows.
    func free() throws -> Int64 { try pragma("freelist_count") * pragma("page_size") }

    private func pragma(_ name: String) throws -> Int64 { try db.first("PRAGMA \(name)")?.integer(0) ?? 0 }
}
