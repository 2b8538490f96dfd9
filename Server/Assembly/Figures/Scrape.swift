import TidemarkEdge
import TidemarkIdentity
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry

/// Answers a scrape with the current figures and all counts. Waits for no store.
struct Scrape: Sendable {
    let node: Node
    let edge: Edge
    let keys: KeyService
    let backups: BackupWatch
    /// `nil` for plain HTTP.
    let certificate: CertificateWatch?
    let pools: (@Sendable () -> StorePools)?
    /// A file on the file system whose free space is reported.
    let databasePath: String?
    let telemetry: Telemetry
    /// The count of log lines that were dropped so far.
    let logLinesDropped: @Sendable () -> Int
    private let gauges: Gauges
    private let process = ProcessFigures()

    init(
        node: Node, edge: Edge, keys: KeyService, backups: BackupWatch, certificate: CertificateWatch?,
        store: OpenedStore, databasePath: String?, telemetry: Telemetry, logLinesDropped: @escaping @Sendable () -> Int
    ) {
        self.node = node
        self.edge = edge
        self.keys = keys
        self.backups = backups
        self.certificate = certificate
        pools = store.pools
        self.databasePath = databasePath
        self.telemetry = telemetry
        self.logLinesDropped = logLinesDropped
        gauges = Gauges(telemetry.registry)
    }

    /// Returns the figures as Prometheus' text.
    func text() async -> String {
        setLanes()
        setConnections()
        setAges()
        setStore()
        gauges.count(.logLinesDropped, to: logLinesDropped())
        gauges.set(.residentMemory, process.residentBytes)
        gauges.set(.started, process.startedSeconds)
        return telemetry.registry.text
    }

    private func setLanes() {
        let depths = node.commits.depths
        gauges.set(.lanes, depths.lanes)
        gauges.set(.laneDepth, depths.longest)
        gauges.set(.laneTransactions, depths.all)
    }

    private func setConnections() {
        let (edge, figures) = (edge.counts, node.figures)
        gauges.set(.sockets, Metric.SocketState.open.rawValue, edge.open)
        gauges.set(.sockets, Metric.SocketState.unauthenticated.rawValue, edge.unauthenticated)
        gauges.set(.sockets, Metric.SocketState.synced.rawValue, figures.synced)
        gauges.set(.socketsMax, self.edge.limits.connectionsMax)
        gauges.set(.slowConsumers, figures.slow)
        gauges.set(.calls, figures.calls)
        gauges.set(.workspaces, figures.workspaces)
        gauges.set(.tailAge, Double(figures.tailAge) / 1_000)
        gauges.set(.unservedAge, Double(figures.unservedAge) / 1_000)
    }

    private func setAges() {
        func age(_ since: Milliseconds?) -> Double {
            since.map { Double(max(0, node.now() - $0)) / 1_000 } ?? .infinity
        }
        gauges.set(.backupAge, age(backups.lastTaken))
        gauges.set(.certificateEnd, certificate.map { Double($0.end) } ?? .nan)
        gauges.set(.keySetAge, keys.fetched.map(age).max() ?? 0)
    }

    private func setStore() {
        let fault = node.commits.storeFault
        for possible in StoreError.Fault.allCases {
            gauges.set(.storeFault, possible.rawValue, possible == fault ? 1 : 0)
        }
        for (reason, count) in node.epochs.begun { gauges.count(.epochs, reason.rawValue, to: count) }
        gauges.set(.diskFree, databasePath.flatMap(DiskSpace.free) ?? .nan)
        guard let pools = pools?() else { return }
        for (metric, pool) in [(Metric.poolWriters, pools.writers), (.poolReaders, pools.readers)] {
            gauges.set(metric, Metric.PoolState.idle.rawValue, pool.idle)
            gauges.set(metric, Metric.PoolState.leased.rawValue, pool.leased)
            gauges.set(metric, Metric.PoolState.waiting.rawValue, pool.waiting)
        }
    }
}
