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
        let identity = EngineIdentity()
        let (engine, courier) = engine(at: identity, url, transport, logger, token)
        // The only unstructured task of the SDK: it lives as long as the connection is wanted, not only for the call.
        let task = environment.begin { [self] in await run(engine, at: identity, courier) }
        _ = syncing.replace(engine: engine, at: identity, task: task)
    }

    /// Like `connect`, for the lifetime of the calling task: for programs with structured tasks. `disconnect()` or
    /// another connection ends this one; the call still returns only when its task does.
    public func run(
        connectedTo url: String, transport: any Transport, logger: Logger = Logger(label: "tidemark.sdk"),
        token: @escaping @Sendable () async throws -> String
    ) async throws {
        try Self.check(url)
        let identity = EngineIdentity()
        let (engine, courier) = engine(at: identity, url, transport, logger, token)
        _ = syncing.replace(engine: engine, at: identity, task: nil)
        await environment.run { await run(engine, at: identity, courier) }
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
    public var status: AsyncStream<SyncStatus> { syncing.values(counting: database) }

    /// The status at this moment. After a write that changed one of its numbers, the first call counts them: it blocks
    /// for one short read.
    public var currentStatus: SyncStatus { syncing.counted(database) }

    /// Returns the status at this moment, counted on one of the system's threads.
    @concurrent func countedStatus() async -> SyncStatus { currentStatus }

    private func engine(
        at identity: EngineIdentity, _ url: String, _ transport: any Transport, _ logger: Logger,
        _ token: @escaping @Sendable () async throws -> String
    ) -> (SyncEngine, BlobCourier) {
        let tokens = CallTokens(token)
        let limits = BlobLimits()
        let calls = ServerCalls(
            url: url, transport: transport, tokens: tokens,
            client: { [database] in try await database.registeredClient() })
        let server = BlobServer(calls: calls, limits: limits)
        let courier = BlobCourier(database, server, environment, logger: logger) { [journal] in journal.note($0) }
        couriers.replace(with: courier)
        // Presence that the previous connection received.
        presence.lost()
        let reports = EngineReports(
            identity: identity, syncing: syncing, courier: courier, listeners: listeners, journal: journal,
            uptime: uptime,
            logger: logger)
        let configuration = EngineConfiguration(
            url: url, transport: transport, token: { try await tokens.fresh() }, now: environment.now,
            clock: environment.clock, isDatabaseInline: environment.isEngineInline, newClient: environment.newID,
            app: environment.app, recorder: recorder, seed: environment.random().0, report: { reports.take($0) })
        return (SyncEngine(database: database, configuration: configuration, logger: logger), courier)
    }

    private func run(_ engine: SyncEngine, at identity: EngineIdentity, _ courier: BlobCourier) async {
        await withChildTasks { children in
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
                    syncing.update(by: identity) { ($0.network, $0.isHoldingBlobs) = (path.kind, isHolding) }
                    if let change = changes.next(path) { engine.post(.network(change)) }
                }
            }
            await environment.runEngine(engine)
            children.cancelAll()
        }
        couriers.ended(courier)
        syncing.ended(engine)
        let isCurrent = syncing.update(by: identity) { status in
            (status.connection, status.network, status.isHoldingBlobs) = (.stopped, nil, false)
        }
        guard isCurrent else { return }
        presence.lost()
        journal.entered(.stopped, now: uptime.now)
    }
}
