import Foundation
import GRDB
import Logging
public import Tidemark
import TidemarkLock
import TidemarkModel

/// One device of one account: a store, its engine, and a way to the kit's server.
public final class TestClient: Sendable {
    private struct Process {
        var store: SyncStore?
        var isRunning = false
        var skew: Milliseconds = 0
        var dice: SplitMix
        var schema: Schema
    }

    /// The user whose device it is.
    public let account: UserID
    let number: Int
    private let folder: URL?
    private let cache: CachePolicy
    private unowned let kit: TestKit
    private let process: Lock<Process>
    private let disk = FullDisk()
    /// The stores that listen to the system's network paths, and the present kind of network.
    private let paths = Lock<(listeners: [AsyncStream<NetworkPath>.Continuation], kind: NetworkKind?)>(([], nil))

    init(
        _ account: UserID, number: Int, folder: URL?, kit: TestKit, dice: SplitMix, schema: Schema, cache: CachePolicy
    ) {
        self.account = account
        self.number = number
        self.folder = folder
        self.cache = cache
        self.kit = kit
        process = Lock(Process(dice: dice, schema: schema))
    }

    /// The store of the running process, or of the last one. `relaunch()` replaces it.
    public var store: SyncStore {
        guard let store = process.withLock({ $0.store }) else { preconditionFailure("the client was never launched") }
        return store
    }

    /// True when the process runs: false after a kill and before `relaunch()`.
    public var isRunning: Bool { process.withLock { $0.isRunning } }

    /// True when the client can reach the server.
    public var isOnline: Bool { kit.loopback.isOnline(number) }

    /// Disconnects the network: open connections are lost, new ones fail.
    ///
    /// - Parameter isNoticed: true when the system notifies the store, as Apple's platforms do.
    public func goOffline(isNoticed: Bool = false) {
        kit.loopback.set(number, isOnline: false)
        if isNoticed { tellPath(isReachable: false) }
    }

    /// Reconnects the network; the engine finds it at its next attempt.
    ///
    /// - Parameter isNoticed: true when the system notifies the store, which then tries at once.
    public func goOnline(isNoticed: Bool = false) {
        kit.loopback.set(number, isOnline: true)
        if isNoticed { tellPath(isReachable: true) }
    }

    /// Moves the device to another kind of network and notifies the store, for settings that depend on it, such as
    /// `BlobPolicy.networks`. Connections stay.
    public func move(to kind: NetworkKind) {
        paths.withLock { $0.kind = kind }
        tellPath(isReachable: isOnline)
    }

    /// Sends the store a network path, whatever the real one is.
    func tellPath(isReachable: Bool) {
        let (listeners, kind) = paths.withLock { $0 }
        for listener in listeners { listener.yield(NetworkPath(isReachable: isReachable, kind: kind)) }
    }

    /// Ends the process, as `kill -9` does: only the database stays.
    ///
    /// - Throws: `TestKitError` with `notSettled`.
    public func kill() async throws {
        await kit.executor.run { self.endProcess() }
        try await kit.settle()
    }

    /// Starts the process again on the same database.
    ///
    /// - Parameter schema: the schema of another version of the app; `nil` for the previous one.
    /// - Throws: `StoreError` when the store cannot be opened.
    public func relaunch(with schema: Schema? = nil) async throws {
        guard !isRunning else { return }
        if let schema { process.withLock { $0.schema = schema } }
        try await launch()
    }

    // MARK: The process

    func launch() async throws {
        let store = try await open()
        disk.watch(store.database.writer)
        process.withLock { process in
            process.store = store
            process.isRunning = true
        }
        var logger = Logger(label: "tidemark.testkit")
        logger.logLevel = .critical
        try store.connect(
            to: "http://testkit.invalid", transport: Way(loopback: kit.loopback, port: number), logger: logger
        ) { [account] in account.text }
    }

    private func open() async throws -> SyncStore {
        let environment = environment()
        let schema = process.withLock { $0.schema }
        if let folder {
            return try await SyncStore.open(
                account: account, at: folder, schema: schema, cache: cache, environment: environment)
        }
        guard let last = process.withLock({ $0.store }) else {
            return try .inMemory(account: account, schema: schema, cache: cache, environment: environment)
        }
        var limits = LocalLimits()
        limits.cache = cache
        let database = try LocalDatabase(
            last.database.writer, account: account, schema: schema, newClient: environment.newID(),
            limits: limits)
        return SyncStore(database: database, environment: environment)
    }

    private func environment() -> StoreEnvironment {
        var environment = StoreEnvironment(
            now: { [unowned self] in kit.timeline.now + process.withLock { $0.skew } },
            random: { [unowned self] in process.withLock { ($0.dice.next(), $0.dice.next()) } })
        // Answers arrive while the test advances its time, which it does after the call.
        environment.answerWait = .zero
        environment.clock = kit.clock
        if #available(iOS 18, macOS 15, *) { environment.executor = kit.executor }
        environment.networkPaths = { [unowned self] in
            let (stream, continuation) = AsyncStream.makeStream(of: NetworkPath.self)
            let kind = paths.withLock { paths in
                paths.listeners.append(continuation)
                return paths.kind
            }
            continuation.yield(NetworkPath(isReachable: isOnline, kind: kind))
            return stream
        }
        return environment
    }

    /// Call it on the executor's thread.
    func endProcess() {
        let store = process.withLock { process in
            process.isRunning = false
            return process.store
        }
        kit.loopback.cut(number)
        _ = store?.abandonConnection()
        store?.database.abandonLock()
    }

    // MARK: Faults

    func set(skew: Duration) { process.withLock { $0.skew = skew.wholeMilliseconds } }

    func set(isDiskFull: Bool) { disk.set(isFull: isDiskFull) }

    /// The reason why this client keeps the kit from being at rest; `nil` when it does not.
    var unrest: String? {
        guard isRunning, isOnline, !disk.isFull, !store.isPaused, !kit.loopback.isTokenRefused(number) else {
            return nil
        }
        switch store.connection {
        case .rejected, .stopped: return nil
        case .connecting, .catchingUp, .waiting, .offline: return "\(account) #\(number) is \(store.connection)"
        case .live: break
        }
        do {
            guard kit.loopback.isQuiet(number) else {
                return "\(account) #\(number) is live, with messages on their way"
            }
            let work = try store.openWork()
            guard work.isDone else {
                return """
                    \(account) #\(number) is live, unsent \(work.unsent), unfilled \(work.unfilled), \
                    blobs \(work.unsentBlobs)
                    """
            }
            return nil
        } catch {
            return "\(account) #\(number) cannot be read: \(error)"
        }
    }
}

/// A client's transport.
private struct Way: Transport {
    let loopback: Loopback
    let port: Int

    func connect(to url: String) async throws -> any TransportConnection { try loopback.connect(port) }

    func exchange(_ request: HTTPCall, with url: String) async throws -> HTTPAnswer {
        try await loopback.exchange(request, from: port)
    }
}
