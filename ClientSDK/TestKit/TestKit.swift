public import Foundation
public import Tidemark
import TidemarkLock
import TidemarkModel

/// A server and any number of clients in one process, in virtual time, with faults by name: for tests of apps.
///
///     let kit = try TestKit(schema: schema)
///     let ann = try await kit.client("ann")
///     let bob = try await kit.client("bob")
///     try await ann.store.repository(Room.self).create(Room(people: ["ann", "bob"]))
///     try await kit.settle()
///     try await kit.expectConverged()
///
/// The server is the real one (sessions, sequencer, fan-out) on tables in memory; a client is a real `SyncStore` with
/// its engine. The engines run only inside `settle()`, `advance(by:)` and `whileRunning(_:)`, one step after the other,
/// so that a test runs the same way each time. Nothing sleeps: every wait uses the kit's `clock`.
public final class TestKit: Sendable {
    /// Virtual time begins at a realistic date, so that ids and dates look real.
    private static let beginning: Milliseconds = 1_760_000_000_000

    /// The kit's time.
    public let clock: VirtualClock
    /// The schema of the server, and of every client without one of its own.
    public let schema: Schema
    let limits: TestKitLimits
    let timeline: Timeline
    let executor = KitExecutor()
    let loopback: Loopback
    private let dice: Lock<SplitMix>
    private let members = Lock<[TestClient]>([])

    /// - Parameter seed: the seed of all randomness in the kit: ids, and the jitter between attempts.
    /// - Throws: `TestKitError` with `unsupported` on systems before iOS 18 and macOS 15: test an app for older ones on
    ///   a newer simulator.
    public init(schema: Schema, seed: UInt64 = 1, limits: TestKitLimits = TestKitLimits()) throws {
        guard #available(iOS 18, macOS 15, *) else {
            throw TestKitError(.unsupported, "the system cannot be told where tasks run: test on iOS 18 or macOS 15")
        }
        self.schema = schema
        self.limits = limits
        timeline = Timeline(now: Self.beginning)
        clock = VirtualClock(timeline)
        dice = Lock(SplitMix(seed: seed))
        loopback = Loopback(timeline, ServerMachines(schema: schema))
        loopback.tick()
    }

    /// Adds a device of an account, connected by default. Each call adds another device, even for the same account.
    ///
    /// - Parameters:
    ///   - folder: the folder of its database; `nil` for memory.
    ///   - schema: the schema of its version of the app; `nil` for the server's.
    ///   - cache: the limits for the data on the device, and the networks for blobs.
    /// - Throws: `StoreError` when the store cannot be opened.
    public func client(
        _ account: String, at folder: URL? = nil, isOnline: Bool = true, schema: Schema? = nil,
        cache: CachePolicy = CachePolicy()
    ) async throws -> TestClient {
        let number = members.withLock { $0.count }
        let client = TestClient(
            UserID(account), number: number, folder: folder, kit: self, dice: split(), schema: schema ?? self.schema,
            cache: cache)
        loopback.open(port: number, for: client.account, isOnline: isOnline) { [weak client] in client?.endProcess() }
        members.withLock { $0.append(client) }
        try await client.launch()
        return client
    }

    /// All clients, in the order of their creation.
    public var clients: [TestClient] { members.withLock { $0 } }

    /// The faults that can be caused.
    public var faults: Faults { Faults(kit: self) }

    // MARK: Time

    /// Runs until everything is quiet: each online client has sent and received everything. As much virtual time passes
    /// as that takes; offline clients are not waited for.
    ///
    /// - Throws: `notSettled` after `TestKitLimits.maxSettle`, with the reasons.
    public func settle() async throws {
        let unrest = await executor.run { self.runUntilQuiet() }
        if let unrest { throw TestKitError(.notSettled, unrest) }
    }

    /// Advances virtual time, with everything that happens in it.
    public func advance(by duration: Duration) async {
        await executor.run {
            let end = self.timeline.now + duration.wholeMilliseconds
            repeat { self.executor.drain() } while self.timeline.runNext(through: end)
            self.timeline.move(to: end)
        }
    }

    /// Runs the clients' engines while `body` runs, for code that waits for them, such as `syncNow()`; then settles.
    ///
    /// Virtual time advances only as far as needed, as in `settle()`; the order of steps depends on the threads of
    /// `body`.
    ///
    /// - Throws: any error of `body`; `TestKitError` with `notSettled`.
    public func whileRunning<Value>(_ body: () async throws -> Value) async throws -> Value {
        executor.beginFreeRun()
        let result: Result<Value, any Error>
        do {
            async let _: Void = runFreely()
            do { result = .success(try await body()) } catch { result = .failure(error) }
        }
        executor.endFreeRun()
        try await settle()
        return try result.get()
    }

    /// Runs what is due now, over and over, until cancelled. Virtual time advances only when other threads had time to
    /// act and nothing happened; otherwise it would overtake them.
    ///
    /// Between two rounds this waits for a thread as they do, so that it waits as long on a busy machine.
    private func runFreely() async {
        var seen = 0
        var idle = 0
        while !Task.isCancelled {
            let count = await executor.run(after: Self.roundLength) {
                repeat { self.executor.drain() } while self.timeline.runNext(through: self.timeline.now)
                return self.executor.jobCount
            }
            idle = count == seen ? idle + 1 : 0
            seen = count
            let isAwaited = !clients.compactMap(\.unrest).isEmpty || clients.contains { $0.store.isLookedAt }
            guard idle >= Self.idleRoundsMin, isAwaited else { continue }
            idle = 0
            await executor.run {
                _ = self.timeline.runNext(through: self.timeline.now + self.limits.maxSettle.wholeMilliseconds)
            }
        }
    }

    private static let roundLength = DispatchTimeInterval.milliseconds(1)
    private static let idleRoundsMin = 20

    /// Runs on the executor's thread. Returns what is still moving when time ran out; `nil` when nothing is.
    private func runUntilQuiet() -> String? {
        let end = timeline.now + limits.maxSettle.wholeMilliseconds
        while true {
            repeat { executor.drain() } while timeline.runNext(through: timeline.now)
            if let failure = loopback.look({ $0.failure }) { return "the server's tables refused a batch: \(failure)" }
            let unrest = clients.compactMap(\.unrest)
            if unrest.isEmpty { return nil }
            guard timeline.runNext(through: end) else { return unrest.joined(separator: "\n") }
        }
    }

    // MARK: The server's truth

    /// Returns the server's records of a model's collection, in the order of their creation.
    ///
    /// - Throws: `StoreError` with `coding` when the model cannot hold one of them.
    public func rows<Model: SyncModel>(of model: Model.Type) throws -> [Model] {
        try loopback.look { try $0.changes(of: Model.collection) }
            .map { try SyncStore.model(model, of: $0, in: schema) }
    }

    private func split() -> SplitMix { dice.withLock { SplitMix(seed: $0.next()) } }
}
