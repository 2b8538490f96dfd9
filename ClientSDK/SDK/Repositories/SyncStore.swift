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
///
/// ## Topics
///
/// ### Opening and closing a store
///
/// - ``open(account:at:schema:models:cache:shared:protection:environment:logger:)``
/// - ``inMemory(account:schema:models:cache:environment:logger:)``
/// - ``preview(account:schema:records:environment:)``
/// - ``notice``
/// - ``account``
/// - ``schema``
/// - ``check(_:)``
/// - ``close()``
///
/// ### Connecting to a server
///
/// - ``connect(to:transport:logger:token:)``
/// - ``run(connectedTo:transport:logger:token:)``
/// - ``disconnect()``
/// - ``pause()``
/// - ``resume()``
/// - ``isPaused``
/// - ``syncNow()``
/// - ``syncNow(_:)``
/// - ``runOnce(deadline:clock:)``
///
/// ### Writing
///
/// - ``write(_:)``
/// - ``write(_:_:)->_``
/// - ``write(_:_:)->(_,_)``
/// - ``readAndWrite(_:_:)``
/// - ``WriteMode``
/// - ``receipt(for:)-(UUID)``
/// - ``receipt(for:)-([UUID])``
/// - ``outbox``
///
/// ### Reading and searching
///
/// - ``repository(_:)``
/// - ``read(_:)``
/// - ``search(_:in:order:limit:)``
/// - ``reader``
///
/// ### Observing
///
/// - ``observe(file:line:_:)``
/// - ``status``
/// - ``currentStatus``
/// - ``status(of:)``
/// - ``isFilling(_:)``
///
/// ### Resolving conflicts, and the history of a record
///
/// - ``conflicts()``
/// - ``openConflicts``
/// - ``history(of:in:)``
/// - ``observeHistory(of:in:)``
/// - ``restore(_:)``
///
/// ### Files and pictures
///
/// - ``blobs``
///
/// ### Typing, presence and other messages that are not stored
///
/// - ``send(ephemeral:_:in:lifetime:)``
/// - ``ephemerals(in:)``
/// - ``presence(in:)``
///
/// ### Limiting the data on the device
///
/// - ``setRetention(_:in:)``
/// - ``retention(in:)``
/// - ``usage()``
/// - ``statistics()``
/// - ``evict(_:)``
/// - ``evict(scope:keepingLast:)``
/// - ``clearCache()``
///
/// ### Sharing with extensions
///
/// - ``publish(_:_:)``
/// - ``publishChanges(_:pause:_:)``
/// - ``adoptSpool()``
///
/// ### Looking at problems
///
/// - ``events``
/// - ``alerts``
/// - ``metrics``
/// - ``diagnostics()``
/// - ``story(of:in:)``
/// - ``exportReport()``
/// - ``compareWithServer()``
/// - ``compare(_:in:with:)``
/// - ``lostRecords()``
/// - ``discardLostRecords()``
///
/// ### Devices and signing out
///
/// - ``devices()``
/// - ``signOut(device:)``
/// - ``signOutEverywhere()``
/// - ``signOut(keeping:)``
/// - ``Kept``
public final class SyncStore: Sendable {
    package let database: LocalDatabase
    package let environment: StoreEnvironment
    /// The clock of waits; the environment's time is for times that are shown or stored.
    package let uptime: Uptime
    let syncing = SyncControl()
    let listeners = EphemeralListeners()
    package let journal: SyncJournal
    /// The recording of the engines' steps.
    package let recorder: FlightRecorder
    var presence: PresenceBoard { syncing.presence }
    let couriers = CurrentCourier()
    /// The folder shared with extensions; `nil` without one.
    let sharing: StoreSharing?

    /// The repair or copy that was found when the file was opened; `nil` when there was none.
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
            journal.note(.recovered(transactions: recovery.pending + recovery.rejected))
        case .copied: journal.note(.forked)
        case nil: break
        }
    }

    /// Opens the account's database in a folder, or creates it. It needs no network.
    ///
    /// A damaged file, or one that came from another installation, is handled: see `notice`.
    ///
    /// Only one store in one process can have an account's file: open it once and keep the store.
    ///
    /// - Parameters:
    ///   - account: the user; each user has a file of their own in the folder.
    ///   - folder: the folder; it is created when it does not exist.
    ///   - schema: the schema of this version of the app.
    ///   - models: the app's models; they are checked against the schema before the file is touched: see `check(_:)`.
    ///   - cache: the limits for the data on the device.
    ///   - shared: the folder that the app's extensions write to and read from. Their writes are adopted before this
    ///     returns. If the folder cannot be used, that is reported as `SyncLogEvent.sharingFailed`, and the store opens
    ///     all the same.
    ///   - protection: the data protection class of both folders and of the store's files in them, on Apple's
    ///     platforms. A file that cannot get it is reported as `SyncLogEvent.protectionFailed`, and the store opens all
    ///     the same.
    ///   - environment: clock and randomness: `.system` outside of tests.
    ///   - logger: receives each of the store's `events`, at `info`; silent by default.
    /// - Throws: `StoreError` when another store has the file open (`inUse`), when the file belongs to another account
    ///   or the schema changed beyond additions, when a model does not match the schema (`unknownName`, `coding`), when
    ///   the user id is empty (`invalidArgument`), or when the file or folder cannot be used (`databaseFailed`).
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

    /// Opens a file of any name, for tools.
    @concurrent package static func open(
        account: UserID, file: String, schema: Schema, environment: StoreEnvironment = .system
    ) async throws -> SyncStore {
        let opening = DatabaseOpening(file: file, account: account, schema: schema, environment: environment)
        let (database, notice) = try opening.open()
        return SyncStore(database: database, environment: environment, notice: notice)
    }

    /// Creates a store in memory that ends with the process, for previews and tests.
    ///
    /// - Throws: `StoreError` with `unknownName` or `coding` when a model does not match the schema.
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

    /// The user who owns the records.
    public var account: UserID { database.account }

    /// The schema of the records.
    public var schema: Schema { database.schema }

    /// A reader for SQL: collections are tables, fields are columns. Writes that bypass the store would never be sent.
    public var reader: any DatabaseReader { database.writer }

    /// Checks that a model matches the schema: its collection, the fields that it reads with their types, and the
    /// mapping of properties to fields. `open(account:at:schema:models:)` does so for several models.
    ///
    /// The check decodes the model from made-up values. This can fail, as for a required property whose type is an
    /// enumeration without `CaseIterable` and without an entry in `defaults`. Then the properties after that one are
    /// not checked.
    /// - Throws: `StoreError` with `unknownName` or `coding`, and a message that names model, property and field.
    public func check<Model: SyncModel>(_ model: Model.Type) throws { try ModelCheck.check(model, schema) }

    /// Returns the records of a model's collection.
    public func repository<Model: SyncModel>(_ model: Model.Type) -> Repository<Model> { Repository(store: self) }

    /// The transactions that wait to be sent, and those that the server refused.
    public var outbox: Outbox { Outbox(store: self) }

    /// The atomicity of a write at the server.
    public enum WriteMode: Hashable, Sendable {
        /// One transaction: all or nothing, on this device and at the server. A batch that is larger than the server
        /// accepts (64 mutations and 256 KiB by default) is refused.
        case atomic
        /// A batch of any size, atomic on this device. The server gets as many transactions as needed, in the order of
        /// the batch, and accepts or refuses each of them separately. Create records before those that refer to them.
        case inParts
    }

    /// Writes several records, of one or more collections, atomically on this device and at the server.
    ///
    ///     try await store.write { t in
    ///         t.update(order, \.status, .ready)
    ///         t.create(note)
    ///     }
    ///
    /// - Returns: the receipt, after the local commit; it has no steps when nothing changed.
    /// - Throws: `StoreError`, which names collection, field and reason, or `CancellationError` when the task was
    ///   cancelled before the commit. Nothing is then written, except with the code `unconfirmed`.
    @discardableResult
    public func write(_ body: (inout WriteBatch) throws -> Void) async throws -> WriteReceipt {
        try await write(.atomic, body)
    }

    /// Writes a batch in the given mode, for example one of any size in parts.
    ///
    ///     try await store.write(.inParts) { batch in
    ///         for card in cards { batch.create(card) }       // a thousand
    ///     }
    ///
    /// - Returns: one receipt, which ends when all parts are settled: with a refusal when any part was refused.
    /// - Throws: as `write(_:)` does.
    @discardableResult
    public func write(_ mode: WriteMode, _ body: (inout WriteBatch) throws -> Void) async throws -> WriteReceipt {
        var batch = WriteBatch()
        try body(&batch)
        return try await write(batch, mode)
    }

    /// Writes a batch and returns the closure's result, such as an id that it has made.
    ///
    ///     let (card, receipt) = try await store.write { batch in
    ///         let card = Card(columnId: column, title: "New")
    ///         batch.create(card)
    ///         return card
    ///     }
    ///
    /// - Throws: as `write(_:)` does.
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

    /// Runs a write to the outbox and notifies the engine, even when the disk did not confirm the write.
    func enqueue<Result: Sendable>(
        isWritten: (Result) -> Bool = { _ in true }, _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        do {
            let result = try await database.change(body)
            if isWritten(result) { syncing.post(.wrote) }
            return result
        } catch let error as StoreError where error.code == .unconfirmed {
            syncing.post(.wrote)
            throw error
        }
    }

    /// Returns the receipt of an earlier write; `nil` when the store does not know the write, or has forgotten it
    /// because it was committed long ago.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func receipt(for id: UUID) async throws -> WriteReceipt? {
        try await receipt(for: [id])
    }

    /// Returns the receipt of a write in parts: pass all of `WriteReceipt.parts`.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    public func receipt(for parts: [UUID]) async throws -> WriteReceipt? {
        let transactions = parts.map { UniqueID($0) }
        let step = try await database.read { db in try ReceiptTable(db: db).step(transactions) }
        return step == nil ? nil : WriteReceipt(transactions, database)
    }
}
