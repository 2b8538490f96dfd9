package import Logging
package import NIOCore
package import ServiceLifecycle
package import TidemarkEdge
package import TidemarkHub
import TidemarkLock
package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkTelemetry
package import TidemarkWire

/// One server process: binds store, sequencer and hubs to the event loops that serve the sockets.
///
/// ```
/// socket → HubExecutor → Hub ─ submit ─▶ GroupCommit ─ batch ─▶ Feed ─ encoded once ─▶ every HubInbox → Hub → sockets
/// ```
/// Run its `services` for as long as sockets are served.
package final class Node: Sendable {
    /// The parts of a node.
    package struct Parts: Sendable {
        package var store: any Store
        /// The same database, for operators.
        package var operating: any OperatingStore
        package var blobs: any BlobStore
        package var schemas: any SchemaStore
        /// The logs of verified backups and of standbys; `nil` if there are none.
        package var backups: (any BackupLog)?
        package var replicas: (any ReplicaLog)?
        /// True when other processes commit to the same store, which must be asked for their batches.
        package var isStoreShared: Bool
        package var hints: any CommitHints
        package var relay: any NodeRelay
        /// Judges a bearer token; may take as long as `SessionTiming.tokenCheckMax`.
        package var verify: @Sendable (String, _ peer: String?) async -> TokenVerdict
        /// The sessions' context, with the schema to begin with.
        package var context: SessionContext
        package var limits: NodeLimits
        package var hubLimits: HubLimits
        package var laneLimits: LaneLimits
        package var timing: CommitTiming
        package var environment: GroupCommit.Environment
        /// The id that distinguishes this process from the others on the store.
        package var id: UInt64
        /// The loops that serve sockets; an edge on other loops would find no hub.
        package var eventLoops: [any EventLoop]
        /// The sink for metrics and refusals.
        package var telemetry: Telemetry

        package init(
            store: any Store, operating: any OperatingStore, blobs: any BlobStore, schemas: any SchemaStore,
            backups: (any BackupLog)? = nil, replicas: (any ReplicaLog)? = nil, isStoreShared: Bool,
            hints: any CommitHints = NoHints(), relay: any NodeRelay = NoRelay(),
            verify: @escaping @Sendable (String, _ peer: String?) async -> TokenVerdict,
            context: SessionContext, limits: NodeLimits = NodeLimits(),
            hubLimits: HubLimits = HubLimits(),
            laneLimits: LaneLimits = LaneLimits(), timing: CommitTiming = CommitTiming(),
            environment: GroupCommit.Environment, id: UInt64, eventLoops: [any EventLoop],
            telemetry: Telemetry? = nil
        ) {
            self.store = store
            self.operating = operating
            self.blobs = blobs
            self.schemas = schemas
            self.backups = backups
            self.replicas = replicas
            self.isStoreShared = isStoreShared
            self.hints = hints
            self.relay = relay
            self.verify = verify
            self.context = context
            self.limits = limits
            self.hubLimits = hubLimits
            self.laneLimits = laneLimits
            self.timing = timing
            self.environment = environment
            self.id = id
            self.eventLoops = eventLoops
            self.telemetry =
                telemetry ?? Telemetry(now: environment.now, clock: environment.clock, logger: environment.logger)
        }
    }

    package let parts: Parts
    /// The calls for blobs, with their counts.
    package let blobs: BlobService
    package let commits: GroupCommit
    package let epochs: Epochs
    let durability: Durability
    /// The time by which this process forgets old data.
    package let forgetting: ForgettingTime
    let background = BackgroundWork()
    package let connectionCounts: ConnectionCounts
    package let sightings: Sightings
    let deviceQuestions = DeviceQuestions()
    package let revocations = Revocations()
    let registrationRates: RateBook<Caller>
    /// The last connections that ended, and the last writes that were refused, of this process.
    package let closedConnections = RecentList<ClosedConnection>(countMax: Node.recentMax)
    package let refusedWrites = RecentList<RefusedWrite>(countMax: Node.recentMax)
    /// Allows one listing of all connections at a time.
    let listingGate = ReadGate(permits: 1)
    package let loadGate: ReadGate
    package let readGate: ReadGate
    package let feeds: Feeds
    let inboxes: [ObjectIdentifier: HubInbox]
    /// Whether each push leaves a line in the log.
    private let logsPushes: Bool
    private let draining = Lock(false)
    private let tailConfirmed: Lock<Milliseconds>
    let schema: NodeSchema

    package init(_ parts: Parts) {
        self.parts = parts
        logsPushes = parts.environment.logger.logLevel <= .debug
        tailConfirmed = Lock(parts.environment.now())
        schema = NodeSchema(parts.context)
        blobs = BlobService(store: parts.blobs, limits: parts.limits.blobs)
        let inboxes = parts.eventLoops.enumerated().map { number, eventLoop in
            HubInbox(eventLoop: eventLoop, number: number, bytesMax: parts.limits.inboxBytesMax)
        }
        let feeds = Feeds(inboxes: inboxes, seal: parts.context.seal)
        let epochs = Epochs(parts)
        self.epochs = epochs
        durability = Durability(parts)
        forgetting = ForgettingTime(parts.environment.clock)
        let background = background
        self.inboxes = Dictionary(
            inboxes.map { (ObjectIdentifier($0.eventLoop), $0) }, uniquingKeysWith: { first, _ in first })
        self.feeds = feeds
        connectionCounts = ConnectionCounts(
            connectionsPerUserMax: parts.context.limits.connectionsPerUserMax,
            callsPerUserMax: parts.context.limits.callsPerUserMax)
        sightings = Sightings(period: parts.limits.sightingEvery.milliseconds)
        registrationRates = RateBook(
            perSecond: parts.limits.registrationsPerSecond, burst: parts.limits.registrationsBurst)
        let metrics = parts.telemetry.metrics
        loadGate = ReadGate(permits: parts.limits.loadsMax) { metrics.noteRead(.start, waited: $0, took: $1) }
        readGate = ReadGate(permits: parts.limits.readsMax) { metrics.noteRead(.page, waited: $0, took: $1) }
        let sequencer = Sequencer(limits: parts.context.limits.model, bounds: parts.laneLimits.plan)
        let hints = parts.hints
        commits = GroupCommit(
            store: parts.store, sequencer: sequencer, limits: parts.laneLimits, timing: parts.timing,
            environment: parts.observed
        ) { commits, workspace, batch, isHeard in
            if let feed = feeds[workspace], feed.committed(batch) {
                background.start { await feed.readOn(from: TailReader(parts, commits, epochs)) }
            }
            if isHeard { hints.announce(workspace, batch.head.seq) }
        }
        // Before anything can be posted: the first task of a loop makes the hub that reads its events.
        for inbox in inboxes {
            inbox.eventLoop.execute { inbox.executor.value = HubExecutor(node: self, inbox: inbox) }
        }
    }

    /// The context that all sessions of the node share, with the schema that is in force.
    package var context: SessionContext { schema.context }
    /// The node's bounds.
    package var limits: NodeLimits { parts.limits }
    var hubLimits: HubLimits { parts.hubLimits }
    /// The store of records.
    package var store: any Store { parts.store }
    /// The same database, for operators.
    package var operating: any OperatingStore { parts.operating }
    var logger: Logger { parts.environment.logger }

    /// Milliseconds since 1970.
    package func now() -> Milliseconds { parts.environment.now() }

    /// The metrics of the process.
    package var metrics: ServerMetrics { parts.telemetry.metrics }

    /// Records that every workspace's tail was known to be whole at this time.
    func tailConfirmed(at time: Milliseconds) { tailConfirmed.withLock { $0 = time } }

    /// Milliseconds since this node last knew of every commit of the other nodes; 0 without other nodes.
    var tailAge: Milliseconds {
        guard parts.isStoreShared else { return 0 }
        return max(0, now() - tailConfirmed.withLock { $0 })
    }

    /// True when this node has not seen for too long whether others have committed.
    package var isTailStale: Bool { Duration.milliseconds(tailAge) > limits.tailAgeMax }

    /// True from the start of a graceful shutdown.
    package var isDraining: Bool { draining.current }

    /// Connections that have authenticated.
    package var connectionCount: Int { connectionCounts.count }

    /// The services to run, in the order of starting; a graceful shutdown ends them from the last to the first. Put the
    /// HTTP server after them, and `drain` after that.
    package var services: [any Service] {
        [
            LoopService(inboxes: Array(inboxes.values)), commits, background, TailService(node: self),
            CompactionService(node: self),
        ]
    }

    /// The service that begins a graceful shutdown: it notifies every client.
    package var drain: any Service { DrainService(node: self) }

    /// The owner of a loop's sockets, for the edge. Call on `eventLoop`, which must be one of the node's.
    package func owner(on eventLoop: any EventLoop) -> any SocketOwner {
        eventLoop.preconditionInEventLoop()
        guard let inbox = inboxes[ObjectIdentifier(eventLoop)] else {
            preconditionFailure("the edge runs on an event loop that the node was not given")
        }
        // Without a hub the node has stopped: a server that is cancelled may still accept for a moment.
        return inbox.executor.value ?? RefusingOwner()
    }

    /// Stops welcoming clients and notifies the connected ones.
    func beginDraining() {
        draining.set(true)
        for inbox in inboxes.values { inbox.post(.drain) }
        feeds.end()
    }
}

extension TailReader {
    init(_ parts: Node.Parts, _ commits: GroupCommit, _ epochs: Epochs) {
        self.init(
            store: parts.store, commits: commits, epochs: epochs, node: parts.id, now: parts.environment.now,
            batchesMax: parts.limits.tailBatchesMax, logger: parts.environment.logger)
    }
}

extension Node {
    /// Returns a completion that also remembers the submission's refused writes.
    package func noting(
        _ submission: Submission, in workspace: WorkspaceID, _ completion: @escaping GroupCommit.Completion
    ) -> GroupCommit.Completion {
        { [refusedWrites, now] outcome in
            if case .settled(_, let results) = outcome {
                for result in results {
                    guard let rejection = result.rejection else { continue }
                    let index = Int(clamping: result.number - submission.first)
                    refusedWrites.note { number in
                        RefusedWrite(
                            number: number, time: now(), workspace: workspace, user: submission.principal.user,
                            client: submission.client, app: submission.app, transaction: result.number,
                            rejection: rejection, records: submission.records(at: index))
                    }
                }
            }
            completion(outcome)
        }
    }

    /// Returns the call that logs a push at the level `debug`, once it is answered. `nil` at a higher log level, where
    /// it then costs nothing.
    package func pushLine(
        of client: ClientID, _ trace: @autoclosure () -> TraceParent?
    ) -> (@Sendable (PushOutcome, Duration) -> Void)? {
        guard logsPushes else { return nil }
        return { [logger, trace = trace()] outcome, took in
            var metadata = trace.logged
            metadata["client"] = "\(client)"
            metadata["outcome"] = "\(outcome.label)"
            metadata["ms"] = "\(Int64(took / .milliseconds(1)))"
            logger.debug("Answered a push", metadata: metadata)
        }
    }
}

extension TraceParent {
    /// The key of the trace id in a log line.
    package static var logKey: String { "trace_id" }
}

extension TraceParent? {
    /// The metadata for a log line.
    package var logged: Logger.Metadata { map { [TraceParent.logKey: "\($0.traceID)"] } ?? [:] }
}

extension PushOutcome {
    /// The name of the outcome in a log line.
    fileprivate var label: String {
        switch self {
        case .settled(_, let results): results.allSatisfy { $0.rejection == nil } ? "accepted" : "rejected"
        case .gap: "gap"
        case .stale: "stale"
        case .forked: "forked"
        case .unknownClient: "unknown_client"
        case .unavailable: "unavailable"
        case .overloaded: "overloaded"
        }
    }
}

/// The gauges of a node at one moment.
package struct NodeFigures: Sendable {
    /// Connections that have authenticated.
    package var synced = 0
    /// Calls over HTTP in progress.
    package var calls = 0
    /// Sockets that accept no more bytes at present.
    package var slow = 0
    /// Workspaces that the node follows.
    package var workspaces = 0
    package var tailAge: Milliseconds = 0
    /// Milliseconds, see ``Node/figures``.
    package var unservedAge: Milliseconds = 0
}

extension Node {
    /// The figures of this moment. Ages are computed from the last time at which all was well, so that they grow while
    /// nothing moves.
    ///
    /// A batch is unserved from its time until the last event loop has taken it over. If other nodes commit, commits
    /// that may have happened since this node last looked are unserved too.
    package var figures: NodeFigures {
        var figures = NodeFigures()
        figures.synced = connectionCounts.count
        figures.calls = connectionCounts.calls
        figures.slow = inboxes.values.reduce(0) { $0 + $1.slow.current }
        figures.workspaces = feeds.all.count
        figures.tailAge = tailAge
        let oldest = inboxes.values.compactMap(\.oldest).min()
        figures.unservedAge = max(tailAge, oldest.map { now() - $0 } ?? 0)
        return figures
    }

    /// Counts an error that is sent to a connection.
    func note(_ refusal: ErrorCode, to socket: Socket, _ trace: TraceParent?) {
        metrics.refusals.count(refusal.rawValue)
        guard refusal == .rateLimited else { return }
        parts.telemetry.security.note(
            .rate, refusal.rawValue, peer: socket.remoteAddress?.ipAddress,
            trace.logged)
    }

    /// Records that a device compared its copy and reported so many wrong records. The metric counts connections, not
    /// the number that a device reports.
    ///
    /// - Parameter isFirst: whether this is the connection's first report.
    func note(
        divergence records: Int64, isFirst: Bool, of client: ClientID, _ identity: Identity, on socket: Socket?
    ) {
        if isFirst { metrics.divergence.count() }
        parts.telemetry.security.note(
            .divergence, "compared", peer: socket?.remoteAddress?.ipAddress,
            [
                "workspace": "\(identity.workspace)", "user": "\(identity.principal.user)", "client": "\(client)",
                "records": "\(records)",
            ])
    }

    /// Records a device's report that it could not apply what it was sent, on so many connections in a row.
    func note(stuck count: Int64, _ client: ClientID, _ identity: Identity, on socket: Socket?) {
        metrics.stuck.count()
        parts.telemetry.security.note(
            .stuck, "hello", peer: socket?.remoteAddress?.ipAddress,
            [
                "workspace": "\(identity.workspace)", "user": "\(identity.principal.user)", "client": "\(client)",
                "connections": "\(count)",
            ])
    }
}

extension Node.Parts {
    /// The environment of the lanes, with counters for batches and transactions.
    var observed: GroupCommit.Environment {
        var observed = environment
        let metrics = telemetry.metrics
        observed.observer.written = { metrics.batchSeconds.record($0) }
        observed.observer.answered = { outcomes, hasBatch in
            var (accepted, all) = (0, 0)
            for case .settled(_, let results) in outcomes {
                all += results.count
                for result in results {
                    guard let rejection = result.rejection else {
                        accepted += 1
                        continue
                    }
                    metrics.transactions.count(rejection.code.rawValue)
                }
            }
            if accepted > 0 { metrics.transactions.count(Metric.accepted, by: accepted) }
            if hasBatch { metrics.batchTransactions.record(all) }
        }
        return observed
    }
}
