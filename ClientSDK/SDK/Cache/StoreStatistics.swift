import GRDB

/// What the database of a store holds.
public struct StoreStatistics: Codable, Hashable, Sendable {
    /// Rows of one collection.
    public struct Rows: Codable, Hashable, Sendable {
        /// All that the app can see.
        public var all: Int
        /// Of these, what is not settled yet.
        public var pending: Int
        /// Of these, what was refused or got no answer.
        public var failed: Int

        public init(all: Int, pending: Int = 0, failed: Int = 0) {
            self.all = all
            self.pending = pending
            self.failed = failed
        }
    }

    /// By the collection's name.
    public var collections: [String: Rows]
    /// Size of the file.
    public var fileBytes: Int64
    /// The same without what is free for the next rows; what `CachePolicy.bytesMax` limits.
    public var usedBytes: Int64
    /// Transactions that are written and not settled.
    public var pending: Int
    /// Transactions that got no answer too often.
    public var failed: Int
    /// Transactions that were refused.
    public var parked: Int
    /// Records that were evicted since the file was made.
    public var evicted: Int

    public init(
        collections: [String: Rows] = [:], fileBytes: Int64 = 0, usedBytes: Int64 = 0, pending: Int = 0,
        failed: Int = 0, parked: Int = 0, evicted: Int = 0
    ) {
        self.collections = collections
        self.fileBytes = fileBytes
        self.usedBytes = usedBytes
        self.pending = pending
        self.failed = failed
        self.parked = parked
        self.evicted = evicted
    }

    /// Rows of all collections.
    public var rows: Int { collections.values.reduce(0) { $0 + $1.all } }

    static func fetch(_ db: Database, _ database: LocalDatabase) throws -> StoreStatistics {
        var collections: [String: Rows] = [:]
        for name in database.tables.keys {
            let sql = """
                SELECT count(*), count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'failed')
                FROM \(CollectionTable.quoted(name))
                """
            guard let row = try db.first(sql) else { continue }
            collections[name] = Rows(
                all: Int(try row.integer(0)), pending: Int(try row.integer(1)), failed: Int(try row.integer(2)))
        }
        let (counts, size) = (try SyncCounts.fetch(db), FileSize(db: db))
        return StoreStatistics(
            collections: collections, fileBytes: try size.total(), usedBytes: try size.used(), pending: counts.pending,
            failed: counts.failed, parked: counts.parked, evicted: Int(try Meta.evicted.integer(db) ?? 0))
    }
}
