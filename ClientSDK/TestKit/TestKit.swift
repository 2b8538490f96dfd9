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
/// so that a test takes the same course each time. Nothing sleeps: what waits for time, waits for the kit's `clock`.
public final class TestKit: Sendable {
    /// Virtual time begins in the middle of a real epoch, so that ids and dates look like themselves.
    private static let beginning: Milliseconds = 1_760_000_000_000

    /// The kit's time.
    public let clock: VirtualClock
    /// The schema of the server, and of every client that is given no other.
    public let schema: Schema
    let limits: TestKitLimits
    let timeline: Timeline
    let executor = KitExecutor()
    let loopback: Loopback
    private let dice: Lock<Dice>
    private let members = Lock<[TestClient]>([])

    /// - Parameter seed: of all chance in the kit: ids, and the jitter between attempts.
    /// - Throws: `TestKitError` with `unsupported` on systems before iOS 18 and macOS 15: an app for older ones is tested on
    ///   a newer simulator.
    public init(schema: Schema, seed: UInt64 = 1, limits: TestKitLimits = TestKitLimits()) throws {
        guard #available(iOS 18, macOS 15, *) else {
            throw TestKitError(.unsupported, "the system cannot be told where tasks run: test on iOS 18 or macOS 15")
        }
        self.schema = schema
        self.limits = limits
        timeline = Timeline(now: Self.beginning)
        clock = VirtualClock(timeline)
        dice = Lock(Dice(seed: seed))
        loopback = Loopback(timeline, ServerMachines(schema: schema))
        loopback.tick()
    }

    /// A device of an account, connected unless told otherwise. Each call makes another device, also of one account.
    ///
    /// - Parameters:
    ///   - folder: where its database is to be; `nil` for memory.
    ///   - schema: that of the version of the app which it runs; `nil` for the server's.
    ///   - cache: how much is kept on the device, and over which networks blobs go.
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

    /// Every client, in the order of their making.
    public var clients: [TestClient] { members.withLock { $0 } }

    /// The faults that can be had.
    public var faults: Faults { Faults(kit: self) }

    // MARK: Time

    /// Runs until everything is quiet: each client that is online has sent and received all there is. As much virtual
    /// time passes as that takes; offline clients are not waited for.
    ///
    /// - Throws: `notSettled` after `TestKitLimits.settleMax`, with what is still moving.
    public func settle() async throws {
        let unrest = await executor.run { self.runUntilQuiet() }
        if let unrest { throw TestKitError(.notSettled, unrest) }
    }

    /// Lets virtual time pass, with everything that happens in it.
    public func advance(by duration: Duration) async {
        await executor.run {
            let end = self.timeline.now + duration.wholeMilliseconds
            repeat { self.executor.drain() } while self.timeline.runNext(through: end)
            self.timeline.move(to: end)
        }
    }

    /// Runs the clients' engines while `body` runs, for code that waits for them, such as `syncNow()`; then settles.
    ///
    /// Virtual time passes as far as it must, as in `settle()`; the order of steps depends on the threads of `body`.
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

    /// What is due now, over and over, until cancelled. Virtual time passes only when other threads have had their time
    /// too and nothing came of it: else it would run away from those who are about to do something.
    ///
    /// Between two rounds this waits for a thread as they do, so that on a busy machine it waits as long.
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
                _ = self.timeline.runNext(through: self.timeline.now + self.limits.settleMax.wholeMilliseconds)
            }
        }
    }

    private static let roundLength = DispatchTimeInterval.milliseconds(1)
    private static let idleRoundsMin = 20

    /// What is still moving when time ran out; `nil` when nothing is. On the executor's thread.
    private func runUntilQuiet() -> String? {
        let end = timeline.now + limits.settleMax.wholeMilliseconds
        while true {
            repeat { executor.drain() } while timeline.runNext(through: timeline.now)
            if let failure = loopback.look({ $0.failure }) { return "the server's tables refused a batch: \(failure)" }
            let unrest = clients.compactMap(\.unrest)
            if unrest.isEmpty { return nil }
            guard timeline.runNext(through: end) else { return unrest.joined(separator: "\n") }
        }
    }

    // MARK: The server's truth

    /// The server's records of a model's collection, in the order of their creation.
    ///
    /// - Throws: `StoreError` with `coding` when the model cannot hold one of them.
    public func rows<Model: SyncModel>(of model: Model.Type) throws -> [Model] {
        try loopback.look { try $0.changes(of: Model.collection) }
            .map { try SyncStore.model(model, of: $0, in: schema) }
    }

    private func split() -> Dice { dice.withLock { Dice(seed: $0.next()) } }
}
