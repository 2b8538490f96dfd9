import GRDB

/// The contents of a store's database, in numbers.
public struct StoreStatistics: Codable, Hashable, Sendable {
    /// The rows of one collection.
    public struct Rows: Codable, Hashable, Sendable {
        /// All rows that the app can see.
        public var all: Int
        /// The number of these that are not settled yet.
        public var pending: Int
        /// The number of these with the state `failed`: rejected, or without an answer.
        public var failed: Int

        public init(all: Int, pending: Int = 0, failed: Int = 0) {
            self.all = all
            self.pending = pending
            self.failed = failed
        }
    }

    /// The rows by the collection's name.
    public var collections: [String: Rows]
    /// The size of the file.
    public var fileBytes: Int64
    /// The size without the space free for the next rows; `CachePolicy.maxBytes` limits it.
    public var usedBytes: Int64
    /// The transactions that are written and not settled.
    public var pending: Int
    /// The transactions that got no answer too often.
    public var stalled: Int
    /// The transactions that the server rejected.
    public var rejected: Int
    /// The records that were evicted since the file was made.
    public var evicted: Int

    public init(
        collections: [String: Rows] = [:], fileBytes: Int64 = 0, usedBytes: Int64 = 0, pending: Int = 0,
        stalled: Int = 0, rejected: Int = 0, evicted: Int = 0
    ) {
        self.collections = collections
        self.fileBytes = fileBytes
        self.usedBytes = usedBytes
        self.pending = pending
        self.stalled = stalled
        self.rejected = rejected
        self.evicted = evicted
    }

    // The names in JSON, which reports contain.
    private enum CodingKeys: String, CodingKey {
        case collections, fileBytes, usedBytes, pending
        case stalled = "failed"
        case rejected = "parked"
        case evicted
    }

    /// The rows of all collections.
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
            stalled: counts.stalled, rejected: counts.rejected, evicted: Int(try Meta.evicted.integer(db) ?? 0))
    }
}
