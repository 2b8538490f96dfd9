package import GRDB
import TidemarkLock
package import TidemarkModel
package import TidemarkSQLite
import TidemarkWire

/// The data of one account on this device: records, outbox, and the state of its synchronisation, in one SQLite file.
///
/// Every operation is synchronous and one SQLite transaction: it happens whole, or it throws and changes nothing. There
/// is no clock and no randomness here: ids and times are arguments, so that a simulator decides them. Calls block until
/// the one writer is free; do not make them from inside another operation's closure.
package final class LocalDatabase: Sendable {
    package let schema: Schema
    /// The user whose database this is: the author of records that are created here.
    package let account: UserID
    /// For observation and reading; write only through the operations.
    package let writer: any DatabaseWriter
    let limits: LocalLimits
    private let serverLimits: Lock<ModelLimits>
    let tables: [String: CollectionTable]
    let names: CollectionNames
    /// The plans for reading the records of each model.
    let plans = ReadPlans()
    /// The records that reads have skipped.
    let undecodable: UndecodableRecords
    /// The filters that no index answers.
    let unindexed = UnindexedFilters()
    /// `nil` in memory.
    let path: String?
    let checkpointer: Checkpointer?
    /// `nil` in memory.
    let lock: FileLock?
    /// The commits that the disk has confirmed, as the checkpointer counts them.
    let confirmedCommits = Lock(0)
    /// The writes that are being made or wait for their turn.
    let writesUnderWay = Lock(0)
    /// True while the log may contain data of a withdrawn scope; see ``cutLog(isNeeded:)``.
    let logHoldsWithdrawn = Lock(false)
    let memo = TransactionMemo()
    /// The frames applied since a cursor was noted among the past ones.
    let framesUnnoted = Lock(0)
    let searchUpkeep: SearchUpkeep
    /// The server's time at the last welcome of this process.
    let welcomedAt = Lock<Milliseconds>(0)
    /// The board that notifies observations of changes.
    let changes = ChangeBoard()

    /// Takes an existing database and brings it to the schema.
    ///
    /// - Parameter newClient: the client id of a database that has none yet.
    /// - Throws: `StoreError` with `schemaChanged`, `wrongAccount`, `formatTooNew` or `formatTooOld`; the file is unchanged then.
    package init(
        _ writer: any DatabaseWriter, account: UserID, schema: Schema, newClient: ClientID,
        limits: LocalLimits = LocalLimits(), path: String? = nil, checkpointer: Checkpointer? = nil,
        lock: FileLock? = nil
    ) throws {
        self.lock = lock
        self.writer = writer
        self.path = path
        self.checkpointer = checkpointer
        self.account = account
        self.schema = schema
        self.limits = limits
        serverLimits = Lock(limits.model)
        undecodable = UndecodableRecords(max: limits.undecodableMax)
        searchUpkeep = SearchUpkeep(schema, rest: limits.searchRest)
        names = CollectionNames(schema)
        tables = Dictionary(
            schema.collections.map { ($0.name, CollectionTable($0, in: schema)) },
            uniquingKeysWith: { first, _ in first })
        let known = try writer.write { db in
            try prepare(db, newClient: newClient)
            return try limits.model.remembered(db)
        }
        serverLimits.withLock { $0 = known }
        writer.add(transactionObserver: changes, extent: .observerLifetime)
    }

    /// Opens or creates the file at `path`, with writes that survive a power cut.
    ///
    /// - Parameters:
    ///   - isSuspect: true to check the file whatever its size; a small one is always checked.
    ///   - lock: the lock of the file, if the caller has it already.
    /// - Throws: also `corrupt` for a damaged file, and `inUse` for one that is open already.
    package static func open(
        path: String, account: UserID, schema: Schema, newClient: ClientID, limits: LocalLimits = LocalLimits(),
        isSuspect: Bool = false, lock: FileLock? = nil
    ) throws -> LocalDatabase {
        let lock = try lock ?? FileLock(of: path)
        let checkpointer = Checkpointer(copiedAt: limits.logCopiedAt, rest: limits.logRest)
        var configuration = configuration(limits)
        // The checkpointer copies the log, so that no commit waits for it.
        configuration.prepareDatabase { db in
            // In an existing file SQLite keeps the page size.
            try db.execute(sql: "PRAGMA page_size = \(limits.pageBytes)")
            try db.execute(sql: "PRAGMA cache_size = -\(limits.cachedBytes / 1_024)")
            checkpointer.watch(db)
        }
        // The log that another process left; opening creates one if there is none.
        let log = DiskFile.bytes(of: "\(path)-wal")
        let reserve = DiskReserve(beside: path, bytes: limits.reserveBytes)
        let pool = try reserve.givingWay { try DatabasePool(path: path, configuration: configuration) }
        try pool.writeWithoutTransaction { db in
            // A commit itself does not wait for the disk: `change` does, after it.
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
            try db.execute(sql: "PRAGMA fullfsync = ON")
            // Deleted data is overwritten, whatever the library's default is.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            let bytes =
                try (db.first("PRAGMA page_count")?.integer(0) ?? 0) * (db.first("PRAGMA page_size")?.integer(0) ?? 0)
            guard isSuspect || bytes <= limits.checkedBytesMax else { return }
            let findings = try db.all("PRAGMA quick_check(100)").map { try $0.text(0) }
            if let finding = FileCheck.damage(in: findings) {
                throw StoreError(.corrupt, "the database file is damaged: \(finding)")
            }
            if findings != ["ok"] { try FileCheck.dropSearch(db) }
        }
        let database = try reserve.givingWay {
            // While a reader is active, or the disk is full, the log stays as it is for now.
            if log > limits.logBytesLeft {
                _ = try? pool.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
            }
            return try LocalDatabase(
                pool, account: account, schema: schema, newClient: newClient, limits: limits, path: path,
                checkpointer: checkpointer, lock: lock)
        }
        // An aid: on a full disk it is omitted.
        try? pool.read { db in try FirstPage(beside: path).note(db) }
        reserve.take()
        try checkpointer.start(path, beside: pool)
        database.searchUpkeep.start(on: pool)
        // The process died before the log was emptied.
        if try pool.read({ db in try Meta.withdrawn.integer(db) }) == 1 { database.cutLog(isNeeded: true) }
        return database
    }

    /// The limits of a write: those that the server sent last, since it judges the write; before that,
    /// ``LocalLimits/model``.
    var modelLimits: ModelLimits { serverLimits.withLock { $0 } }

    /// Takes the server's limits, which are stored already.
    func setServerLimits(_ limits: ModelLimits) { serverLimits.withLock { $0 = limits } }

    /// Makes a database that ends with the object: for previews, tests, the simulator.
    package static func inMemory(
        account: UserID, schema: Schema, newClient: ClientID, limits: LocalLimits = LocalLimits()
    ) throws -> LocalDatabase {
        guard !account.text.isEmpty else { throw StoreError.nobody }
        let queue = try DatabaseQueue(configuration: configuration(limits))
        return try LocalDatabase(queue, account: account, schema: schema, newClient: newClient, limits: limits)
    }

    private static func configuration(_ limits: LocalLimits) -> Configuration {
        var configuration = Configuration()
        configuration.label = "tidemark"
        configuration.busyMode = .timeout(Double(limits.busyTimeout) / 1_000)
        configuration.prepareDatabase { db in db.add(tokenizer: SearchTokenizer.self) }
        return configuration
    }

    private func prepare(_ db: Database, newClient: ClientID) throws {
        try LocalTables.bring(db)
        if let owner = try Meta.account.text(db), owner != account.text {
            throw StoreError(.wrongAccount, "the database belongs to another account")
        }
        try Meta.account.set(account.text, db)
        if try Meta.client.text(db) == nil { try Meta.client.set(newClient.description, db) }
        try SchemaMigration(schema: schema, db: db, cache: limits.cache).run()
        try db.run(
            """
            DELETE FROM tidemark_receipt
            WHERE state = 'committed' AND rowid <= (SELECT max(rowid) FROM tidemark_receipt) - ?
            """, [limits.receiptsKept])
    }

    /// Returns the table of a collection.
    ///
    /// - Throws: `rejected(.unknownCollection)`.
    func table(_ collection: String) throws -> CollectionTable {
        guard let table = tables[collection] else {
            throw StoreError(.rejected(.unknownCollection), "\(collection): no such collection in the schema")
        }
        return table
    }
}
