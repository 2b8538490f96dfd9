public import Foundation
public import GRDB
public import Logging
public import TidemarkExtension
public import TidemarkModel

/// One account's records on this device: reads and writes go to the local database and never wait for the network.
///
///     let store = try await SyncStore.open(account: UserID("ann"), at: folder, schema: schema)
///     let messages = store.repository(Message.self)
///     try await messages.create(Message(text: "hi"))
public final class SyncStore: Sendable {
    package let database: LocalDatabase
    /// Fires after each local write.
    package let localWrites = ChangeSignal()
    package let environment: StoreEnvironment
    /// What waits are measured by; the environment's time is for what is shown or stored.
    package let uptime: Uptime
    let syncing = SyncControl()
    let listeners = EphemeralListeners()
    package let journal: SyncJournal
    /// The recording of what its engines do.
    package let recorder: FlightRecorder
    let presence = PresenceBoard()
    let couriers = CurrentCourier()
    /// `nil` without extensions.
    let sharing: StoreSharing?

    /// What happened to the file when it was opened; `nil` when nothing did.
    public let notice: StoreNotice?

    package init(
        database: LocalDatabase, environment: StoreEnvironment, notice: StoreNotice? = nil,
        logger: Logger = .silent, shared: SharedFolder? = nil
    ) {
        self.notice = notice
        sharing = shared.map { StoreSharing($0, account: database.account, schema: database.schema.name) }
        self.database = database
        self.environment = environment
        uptime = Uptime(environment.clock)
        journal = SyncJournal(logger: logger)
        recorder = FlightRecorder(
            of: database.path, environment.recording, app: environment.app, date: environment.now)
        database.undecodable.onNew { [journal] record in
            journal.note(
                .undecodable(
                    collection: record.collection, record: record.id, model: record.model, field: record.field))
        }
        switch notice {
        case .recovered(let recovery):
            journal.note(.corrupted(reason: recovery.reason))
            journal.note(.recovered(transactions: recovery.pending + recovery.parked))
        case .copied: journal.note(.forked)
        case nil: break
        }
    }

    /// Opens the account's database in a folder, or makes it; works without a network.
    ///
    /// A file that is damaged, or that came from another installation, is dealt with: see `notice`.
    ///
    /// One store at a time has an account's file, in one process: open it once and keep the store.
    ///
    /// - Parameters:
    ///   - account: whose records; each account has a file of its own in the folder.
    ///   - folder: made when it is not there.
    ///   - schema: of this version of the app.
    ///   - models: the app's models, to be checked against the schema before the file is touched: see `check(_:)`.
    ///   - cache: how much is kept on the device.
    ///   - shared: the folder that the app's extensions write to and read from; what they wrote is adopted before this
    ///     returns. That the folder cannot be used is told as `SyncLogEvent.sharingFailed`, and the store opens all the same.
    ///   - protection: the class of data protection of both folders and of the store's files in them, on Apple's platforms.
    ///     A file that cannot get it is reported as `SyncLogEvent.protectionFailed`, and the store opens all the same.
    ///   - environment: clock and chance: `.system` outside of tests.
    ///   - logger: gets each of the store's `events`, at `info`; silent by default.
    /// - Throws: `StoreError` when another store has the file (`inUse`), when it is not this account's or the schema changed
    ///   beyond additions, when a model does not fit the schema (`unknownName`, `coding`), when the user has no name
    ///   (`invalidArgument`), or when file or folder cannot be used (`databaseFailed`).
    @concurrent public static func open(
        account: UserID, at folder: URL, schema: Schema, models: [any SyncModel.Type] = [],
        cache: CachePolicy = CachePolicy(), shared: SharedFolder? = nil,
        protection: FileProtectionType = .completeUntilFirstUserAuthentication,
        environment: StoreEnvironment = .system, logger: Logger? = nil
    ) async throws -> SyncStore {
        for model in models { try ModelCheck.check(model, schema) }
        var limits = LocalLimits()
        limits.cache = cache
        let protector = FileProtector(protection, assign: environment.protect)
        let opening = DatabaseOpening(
            folder: folder, account: account, schema: schema, environment: environment, limits: limits,
            protector: protector)
        let (database, notice) = try opening.open()
        let store = SyncStore(
            database: database, environment: environment, notice: notice, logger: logger ?? .silent, shared: shared)
        await store.beginSharing()
        if let shared { protector.coverTree(shared.url) }
        if let reason = protector.failure { store.journal.note(.protectionFailed(reason: reason)) }
        return store
    }

    /// The same for a file of any name: for tools.
    @concurrent package static func open(
        account: UserID, file: String, schema: Schema, environment: StoreEnvironment = .system
    ) async throws -> SyncStore {
        let opening = DatabaseOpening(file: file, account: account, schema: schema, environment: environment)
        let (database, notice) = try opening.open()
        return SyncStore(database: database, environment: environment, notice: notice)
    }

    /// A store that ends with the process: previews and tests.
    public static func inMemory(
        account: UserID, schema: Schema, models: [any SyncModel.Type] = [], cache: CachePolicy = CachePolicy(),
        environment: StoreEnvironment = .system, logger: Logger? = nil
    ) throws -> SyncStore {
        for model in models { try ModelCheck.check(model, schema) }
        var limits = LocalLimits()
        limits.cache = cache
        let database = try LocalDatabase.inMemory(
            account: account, schema: schema, newClient: environment.newID(), limits: limits)
        return SyncStore(database: database, environment: environment, logger: logger ?? .silent)
    }

    /// Whose records these are.
    public var account: UserID { database.account }

    /// What the records look like.
    public var schema: Schema { database.schema }

    /// For reading with SQL; collections are tables, fields columns. Writes around the store would never be sent.
    public var reader: any DatabaseReader { database.writer }

    /// Checks that a model fits the schema: its collection, the fields that it reads with their types, and which property
    /// stands for which field. `open(account:at:schema:models:)` does so for several.
    ///
    /// A model is tried with made-up values. Where one cannot be made of them, as when a property that is not optional is an
    /// enumeration without `CaseIterable` and without an entry in `defaults`, what comes after that property is not looked at.
    /// - Throws: `StoreError` with `unknownName` or `coding`, and a message that names model, property and field.
    public func check<Model: SyncModel>(_ model: Model.Type) throws { try ModelCheck.check(model, schema) }

    /// The records of a model's collection.
    public func repository<Model: SyncModel>(_ model: Model.Type) -> Repository<Model> { Repository(store: self) }

    /// What waits to be sent, and what was refused.
    public var outbox: Outbox { Outbox(store: self) }

    /// Whether a write stays whole on its way.
    public enum WriteMode: Hashable, Sendable {
        /// One transaction: whole here and at the server, or not at all. What is larger than the server takes (64 mutations
        /// and 256 KiB by default) is refused.
        case atomic
        /// Of any size, and whole here: at the server it is as many transactions as needed, in the order of the batch, each
        /// accepted or refused by itself. Create what others refer to before them.
        case inParts
    }

    /// Writes several records, of several collections if need be, atomically here and at the server.
    ///
    ///     try await store.write { t in
    ///         t.update(order, \.status, .ready)
    ///         t.create(note)
    ///     }
    ///
    /// - Returns: the receipt, after the local commit; it has no steps when nothing had changed.
    /// - Throws: `StoreError` that names collection, field and reason, or `CancellationError` when the task was cancelled
    ///   before the commit; nothing is then written. With `unconfirmed` it is.
    @discardableResult
    public func write(_ body: (inout WriteBatch) throws -> Void) async throws -> WriteReceipt {
        try await write(.atomic, body)
    }

    /// The same of any size where it may be cut.
    ///
    ///     try await store.write(.inParts) { batch in
    ///         for card in cards { batch.create(card) }       // a thousand
    ///     }
    ///
    /// - Returns: one receipt, which ends when all parts are settled, with a refusal when one was refused.
    @discardableResult
    public func write(_ mode: WriteMode, _ body: (inout WriteBatch) throws -> Void) async throws -> WriteReceipt {
        var batch = WriteBatch()
        try body(&batch)
        return try await write(batch, mode)
    }

    /// The same with what the closure returns, as an id that it has made.
    ///
    ///     let (card, receipt) = try await store.write { batch in
    ///         let card = Card(columnId: column, title: "New")
    ///         batch.create(card)
    ///         return card
    ///     }
    @discardableResult
    public func write<Value>(
        _ mode: WriteMode = .atomic, _ body: (inout WriteBatch) throws -> Value
    ) async throws -> (value: Value, receipt: WriteReceipt) {
        var batch = WriteBatch()
        let value = try body(&batch)
        return (value, try await write(batch, mode))
    }

    private func write(_ batch: WriteBatch, _ mode: WriteMode) async throws -> WriteReceipt {
        let (id, time) = (environment.newID(), environment.now())
        let newID: @Sendable () -> TransactionID = { [environment] in environment.newID() }
        let parts = try await enqueue(isWritten: { (parts: [TransactionID]) in !parts.isEmpty }) {
            [database, steps = batch.noted.take()] db in
            var draft = try WriteDraft(
                database, db, time: time, cuttingWith: mode == .inParts ? newID : nil, isJudged: true)
            for step in steps { try step(&draft, database) }
            return try draft.finish(id)
        }
        if batch.hasBlobs { couriers.wrote() }
        return WriteReceipt(parts.isEmpty ? [id] : parts, database)
    }

    /// Writes what is to be sent, and tells the engine of it: also where the disk did not confirm it.
    func enqueue<Result: Sendable>(
        isWritten: (Result) -> Bool = { _ in true }, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        do {
            let result = try await database.change(body)
            if isWritten(result) { localWrites.send() }
            return result
        } catch let error as StoreError where error.code == .unconfirmed {
            localWrites.send()
            throw error
        }
    }

    /// The receipt of an earlier write; `nil` when the store does not know it or has forgotten it since it was committed
    /// long ago.
    public func receipt(for id: UUID) async throws -> WriteReceipt? {
        try await receipt(for: [id])
    }

    /// The same of a write in parts: give all of `WriteReceipt.parts`.
    public func receipt(for parts: [UUID]) async throws -> WriteReceipt? {
        let transactions = parts.map { UniqueID($0) }
        let step = try await database.read { db in try ReceiptTable(db: db).step(transactions) }
        return step == nil ? nil : WriteReceipt(transactions, database)
    }
}
