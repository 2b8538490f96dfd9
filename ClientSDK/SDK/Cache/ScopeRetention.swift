import GRDB
public import TidemarkModel

/// The part of one scope's records that is kept on this device, whatever the cache's policy is for the others.
public enum ScopeRetention: Hashable, Sendable {
    /// The policy of the store.
    case policy
    /// All records on the device: none of them is evicted, by age, count or size.
    case pinned
    /// This many of the newest of each collection, at least 1; age and size of the file may evict more of them.
    case newest(Int)
}

/// The settings of single scopes, inside one SQLite transaction.
struct KeepingTable {
    let db: Database

    /// The scopes of which nothing is evicted, for SQL.
    static let pinned = "SELECT scope FROM tidemark_keeping WHERE rows IS NULL"

    func set(_ keeping: ScopeRetention, of scope: ScopeID) throws {
        let rows: Int?
        switch keeping {
        case .policy: return try db.run("DELETE FROM tidemark_keeping WHERE scope = ?", [scope.text])
        case .pinned: rows = nil
        case .newest(let count): rows = max(1, count)
        }
        try db.run("INSERT OR REPLACE INTO tidemark_keeping (scope, rows) VALUES (?, ?)", [scope.text, rows])
    }

    func retention(of scope: ScopeID) throws -> ScopeRetention {
        guard let row = try db.first("SELECT rows FROM tidemark_keeping WHERE scope = ?", [scope.text]) else {
            return .policy
        }
        return try row.optionalInteger(0).map { .newest(Int($0)) } ?? .pinned
    }

    /// Returns the scopes with a number of their own.
    func bounded() throws -> [(scope: ScopeID, rows: Int)] {
        try db.all("SELECT scope, rows FROM tidemark_keeping WHERE rows IS NOT NULL").map {
            (ScopeID(try $0.text(0)), Int(try $0.integer(1)))
        }
    }
}

extension SyncStore {
    /// Sets the part of a scope that is kept on this device, until it is set again; it survives a restart.
    ///
    ///     try await store.setRetention(.pinned, in: .of(conversation.id))      // for the flight
    ///     try await store.setRetention(.newest(200), in: .of(channel.id))      // its budget
    ///
    /// Nothing is evicted or fetched by this call: a budget takes effect with the next eviction, which happens
    /// automatically while connected. `clearCache()` and the loss of the scope remove pinned records too.
    public func setRetention(_ retention: ScopeRetention, in scope: ScopeID) async throws {
        try await database.change { db in try KeepingTable(db: db).set(retention, of: scope) }
    }

    /// Returns the setting of a scope.
    public func retention(in scope: ScopeID) async throws -> ScopeRetention {
        try await database.read { db in try KeepingTable(db: db).retention(of: scope) }
    }

    /// Evicts the older records of this scope only, now. Unsent and refused records and those that they refer to stay,
    /// and so does a pinned scope. Nothing is fetched again before `Repository.loadOlder` asks for it.
    ///
    ///     try await store.evict(scope: .of(conversation), keepingLast: 50)
    ///
    /// - Parameters:
    ///   - scope: the scope of the records.
    ///   - count: the number of records of each collection that stay, by creation; 0 keeps none.
    /// - Returns: the number of records evicted.
    @discardableResult
    @concurrent public func evict(scope: ScopeID, keepingLast count: Int) async throws -> Int {
        let evicted = try database.evict(scope, keepingLast: count)
        if evicted > 0 { journal.note(.evicted(records: evicted)) }
        return evicted
    }
}
