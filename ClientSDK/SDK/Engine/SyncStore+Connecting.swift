import Foundation
public import Logging
import TidemarkLock
import TidemarkModel
import TidemarkWire

extension SyncStore {
    /// Keeps the store in sync with a server from now on, through every loss of the network; returns at once.
    ///
    ///     store.connect(to: "https://sync.example.com", transport: NIOTransport()) { try await auth.token() }
    ///
    /// - Parameters:
    ///   - url: `https://host`, `https://host:port/prefix`, or the same with `http`.
    ///   - transport: carries the connection: `URLSessionTransport` on Apple's platforms, else `NIOTransport`.
    ///   - logger: the SDK logs above `info` only in three cases. The local database itself fails, something is overdue
    ///     by `alerts`, or the server refuses what waiting does not fix: another user's token, another schema.
    ///   - token: returns a bearer token for the store's account; called before each connection and before the last
    ///     token expires.
    /// - Throws: `StoreError` with `invalidArgument` for a text that is not a server address.
    public func connect(
        to url: String, transport: any Transport, logger: Logger = Logger(label: "tidemark.sdk"),
        token: @escaping @Sendable () async throws -> String
    ) throws {
        try Self.check(url)
        if let notice {
            logger.warning(
                "the local database was recovered, or came from another installation",
                metadata: ["notice": "\(notice)"])
        }
        let place = EnginePlace()
        let (engine, courier) = engine(at: place, url, transport, logger, token)
        // The only unstructured task of the SDK: it lives as long as the connection is wanted, not only for the call.
        let task = environment.begin { [self] in await run(engine, at: place, courier) }
        _ = syncing.replace(engine: engine, at: place, task: task)
    }

    /// Like `connect`, for the lifetime of the calling task: for programs with structured tasks. `disconnect()` or
    /// another connection ends this one; the call still returns only when its task does.
    public func sync(
        with url: String, transport: any Transport, logger: Logger = Logger(label: "tidemark.sdk"),
        token: @escaping @Sendable () async throws -> String
    ) async throws {
        try Self.check(url)
        let place = EnginePlace()
        let (engine, courier) = engine(at: place, url, transport, logger, token)
        _ = syncing.replace(engine: engine, at: place, task: nil)
        await environment.run { await run(engine, at: place, courier) }
    }

    private static func check(_ url: String) throws(StoreError) {
        do { _ = try ServerAddress(url) } catch { throw StoreError(.invalidArgument, error.description) }
    }

    /// Ends the connection and returns when nothing is sent or applied any more. Local writes remain possible.
    public func disconnect() async {
        await abandonConnection()?.value
    }

    /// Ends the connection without waiting: work under way may still reach the database before the returned task ends.
    package func abandonConnection() -> Task<Void, Never>? { syncing.replace(engine: nil, at: nil, task: nil) }

    /// The status now and after each change.
    public var status: AsyncStream<SyncStatus> {
        syncing.count(database)
        return syncing.values()
    }

    /// The status at this moment; its numbers follow a write within milliseconds.
    public var currentStatus: SyncStatus {
        syncing.count(database)
        return syncing.status
    }

    private func engine(
        at place: EnginePlace, _ url: String, _ transport: any Transport, _ logger: Logger,
        _ token: @escaping @Sendable () async throws -> String
    ) -> (SyncEngine, BlobCourier) {
        let syncing = syncing
        let (environment, journal, uptime) = (environment, journal, uptime)
        let tokens = CallTokens(token)
        let limits = BlobLimits()
        let calls = ServerCalls(
            url: url, transport: transport, tokens: tokens,
            client: { [database] in try await database.registeredClient() })
        let server = BlobServer(calls: calls, limits: limits)
        let courier = BlobCourier(database, server, environment, logger: logger) { journal.note($0) }
        couriers.replace(with: courier)
        // Presence that the previous connection received.
        presence.lost()
        var configuration = EngineConfiguration(
            url: url, transport: transport, token: { try await tokens.fresh() }, now: environment.now,
            newClient: environment.newID,
            seed: environment.random().0,
            report: { [presence] phase in
                // First, since an observer of the phase may ask at once.
                courier.linked(phase.isConnected)
                guard syncing.update(by: place, { $0.phase = phase }) else { return }
                if !phase.isConnected {
                    presence.lost()
                    syncing.endHistories()
                }
                if case .refused(let reason) = phase {
                    logger.warning(
                        "nothing is sent or received until the app connects in another way",
                        metadata: ["code": "\(reason.code.rawValue)", "reason": "\(reason.detail)"])
                }
                journal.entered(phase, now: uptime.now)
            },
            synced: { time in
                syncing.update { $0.lastSync = Date(timeIntervalSince1970: Double(time) / 1_000) }
            })
        configuration.app = environment.app
        configuration.recorder = recorder
        // The call that installs the engine tells it whether the store is paused.
        configuration.startsConnected = false
        configuration.clock = environment.clock
        configuration.isDatabaseInline = environment.isEngineInline
        configuration.welcomed = { courier.told(blobBytesMax: $0.blobBytesMax) }
        configuration.leftOut = { count in
            if syncing.status.scopesLeftOut != count { _ = syncing.update(by: place) { $0.scopesLeftOut = count } }
        }
        configuration.pushPaused = { pause in _ = syncing.update(by: place) { $0.pushPause = pause } }
        configuration.watched = { [presence] in presence.wanted }
        configuration.heard = { [listeners, presence] message in
            if message.kind == Ephemeral.presence { return presence.tell(message) }
            if let message = EphemeralMessage(message) { listeners.tell(message) }
        }
        configuration.note = { journal.note($0) }
        configuration.carried = { journal.carried(sent: $0, received: $1) }
        configuration.received = { count in if count > 0 { _ = syncing.update(by: place) { $0.received += count } } }
        configuration.diskFull = { isFull in
            if syncing.status.isDiskFull != isFull { syncing.update { $0.isDiskFull = isFull } }
        }
        configuration.roundEnded = { syncing.endRounds(through: $0) }
        configuration.historyEnded = { syncing.endHistory(of: $0) }
        configuration.collectionRoundEnded = { syncing.endRounds(through: $1, of: $0) }
        return (SyncEngine(database: database, configuration: configuration, logger: logger), courier)
    }

    private func run(_ engine: SyncEngine, at place: EnginePlace, _ courier: BlobCourier) async {
        // Listens before the engine looks for waiting writes: otherwise it would miss what is written in between.
        let writes = localWrites.signals()
        await withChildTasks { children in
            await children.add {
                for await _ in writes { engine.wrote() }
            }
            await children.add { [self] in
                await trim()
            }
            await children.add { [self] in await watchOverdue() }
            if let wishes = sharing?.wishes.signals() {
                await children.add { [self] in
                    // Requests made before this task listened.
                    await adoptQuietly()
                    for await _ in wishes { await adoptQuietly() }
                }
            }
            await children.add { await courier.run() }
            await children.add { [environment, syncing] in
                var changes = NetworkChanges()
                for await path in environment.networkPaths() {
                    let isHolding = courier.holds(over: path.kind)
                    _ = syncing.update(by: place) { ($0.network, $0.isHoldingBlobs) = (path.kind, isHolding) }
                    if let change = changes.next(path) { engine.network(change) }
                }
            }
            await environment.runEngine(engine)
            children.cancelAll()
        }
        couriers.ended(courier)
        syncing.ended(engine)
        let isCurrent = syncing.update(by: place) { status in
            (status.phase, status.network, status.isHoldingBlobs) = (.stopped, nil, false)
        }
        guard isCurrent else { return }
        presence.lost()
        journal.entered(.stopped, now: uptime.now)
    }
}
