import GRDB
public import TidemarkModel

/// How much of one scope's records is kept on this device, whatever the cache's policy says of the others.
public enum ScopeKeeping: Hashable, Sendable {
    /// As `CachePolicy` says.
    case policy
    /// All that is here: nothing of it is evicted, by no age, count or size.
    case pinned
    /// So many of the newest of each collection, at least 1; age and size of the file may cost more of them.
    case newest(Int)
}

/// What was said of single scopes, inside one SQLite transaction.
struct KeepingTable {
    let db: Database

    /// Scopes of which nothing is evicted, for SQL.
    static let pinned = "SELECT scope FROM tidemark_keeping WHERE rows IS NULL"

    func set(_ keeping: ScopeKeeping, of scope: ScopeID) throws {
        let rows: Int?
        switch keeping {
        case .policy: return try db.run("DELETE FROM tidemark_keeping WHERE scope = ?", [scope.text])
        case .pinned: rows = nil
        case .newest(let count): rows = max(1, count)
        }
        try db.run("INSERT OR REPLACE INTO tidemark_keeping (scope, rows) VALUES (?, ?)", [scope.text, rows])
    }

    func keeping(of scope: ScopeID) throws -> ScopeKeeping {
        guard let row = try db.first("SELECT rows FROM tidemark_keeping WHERE scope = ?", [scope.text]) else {
            return .policy
        }
        return try row.optionalInteger(0).map { .newest(Int($0)) } ?? .pinned
    }

    /// Scopes with a number of their own.
    func bounded() throws -> [(scope: ScopeID, rows: Int)] {
        try db.all("SELECT scope, rows FROM tidemark_keeping WHERE rows IS NOT NULL").map {
            (ScopeID(try $0.text(0)), Int(try $0.integer(1)))
        }
    }
}

extension SyncStore {
    /// Says how much of a scope is kept on this device, until it is said otherwise; a restart does not forget it.
    ///
    ///     try await store.keep(.pinned, of: ScopeID(record: conversation.id))      // for the flight
    ///     try await store.keep(.newest(200), of: ScopeID(record: channel.id))      // its budget
    ///
    /// Nothing is evicted or fetched by this call: a budget takes effect with the next eviction, which happens by itself
    /// while connected. `clearCache()` and the loss of the scope take pinned records too.
    public func keep(_ keeping: ScopeKeeping, of scope: ScopeID) async throws {
        try await database.change { db in try KeepingTable(db: db).set(keeping, of: scope) }
    }

    /// What was said of a scope.
    public func keeping(of scope: ScopeID) async throws -> ScopeKeeping {
        try await database.read { db in try KeepingTable(db: db).keeping(of: scope) }
    }

    /// Evicts the older records of a scope now, and of no other. What is not sent, was refused or is referred to by such
    /// stays, and so does all of a pinned scope. Nothing is fetched again before `Repository.loadOlder` asks for it.
    ///
    ///     try await store.evict(scope: ScopeID(record: conversation.id), keepingLast: 50)
    ///
    /// - Parameters:
    ///   - scope: whose records.
    ///   - count: of each collection of the scope, by creation; none when it is 0.
    /// - Returns: how many records went.
    @discardableResult
    @concurrent public func evict(scope: ScopeID, keepingLast count: Int) async throws -> Int {
        let evicted = try database.evict(scope, keepingLast: count)
        if evicted > 0 { journal.note(.evicted(records: evicted)) }
        return evicted
    }
}
