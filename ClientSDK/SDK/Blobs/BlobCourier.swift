import Foundation
import Logging
import TidemarkLock
import TidemarkModel

/// Carries blobs between the local database and the server while an engine runs. It executes what `BlobUploads`
/// decides, and fetches blobs that the app looks at.
final class BlobCourier: Sendable {
    private struct State {
        var downloads: BlobDownloads
        var waiting: [Int64: CheckedContinuation<Data, any Error>] = [:]
        var rounds: [Int64: CheckedContinuation<Void, Never>] = [:]
        var lastNumber: Int64 = 0
        var isLinked = false
        /// True while the policy waits for another kind of network.
        var isHolding = false
        /// The most bytes of one blob that the server accepts; 0 when it stores none.
        var serverBytesMax = 0
        var isOver = false
    }

    private let database: LocalDatabase
    private let server: BlobServer
    private let environment: StoreEnvironment
    private let uptime: Uptime
    private let limits: BlobLimits
    private let lane: DatabaseLane
    private let inbox = BlobInbox()
    private let logger: Logger
    private let report: @Sendable (SyncLogEvent) -> Void
    private let state: Lock<State>

    /// - Parameter report: receives an event for each refused blob.
    init(
        _ database: LocalDatabase, _ server: BlobServer, _ environment: StoreEnvironment, logger: Logger,
        report: @escaping @Sendable (SyncLogEvent) -> Void
    ) {
        self.database = database
        self.server = server
        self.environment = environment
        uptime = Uptime(environment.clock)
        self.logger = logger
        self.report = report
        limits = server.limits
        lane = DatabaseLane(isInline: environment.isAllInline)
        state = Lock(State(downloads: BlobDownloads(limits: server.limits)))
    }

    /// The server's other calls, which are not about blobs.
    var calls: ServerCalls { server.calls }

    /// Notes whether the connection is up. It is also called when scopes may have arrived.
    func linked(_ isLinked: Bool) { link { $0.isLinked = isLinked } }

    /// Notes the kind of network of the connection.
    ///
    /// - Returns: true when blobs have to wait for another network.
    func holds(over kind: NetworkKind?) -> Bool {
        let networks = database.limits.cache.blobs.networks
        let isHolding = kind.map { networks?.contains($0) == false } ?? false
        link { $0.isHolding = isHolding }
        return isHolding
    }

    /// Applies a change of the connection, in the order of the calls.
    private func link(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            inbox.linked(state.isLinked && !state.isHolding)
        }
    }

    /// Notes the server's limit for one blob; `nil` when the server stores no blobs or does not know them.
    func setServerLimit(blobBytesMax: Int?) { state.withLock { $0.serverBytesMax = blobBytesMax ?? 0 } }

    /// Notes that there may be something to send.
    func wrote() { inbox.wrote() }

    // MARK: Running

    /// Runs until the task is cancelled; callers that still wait then get an error.
    func run() async {
        var uploads = BlobUploads(limits: limits, seed: environment.random().0)
        await withChildTasks { children in
            await retryRefused()
            var alarm = Alarm()
            for await _ in inbox.signals {
                let taken = inbox.take()
                if taken.hasRung { alarm.rang() }
                for key in taken.downloads { await children.add { await self.fetch(key) } }
                var pending = taken.events
                while !pending.isEmpty {
                    for effect in uploads.on(pending.removeFirst(), now: uptime.now) {
                        if let answer = await execute(effect, &alarm, in: &children) { pending.append(answer) }
                    }
                }
                if Task.isCancelled { break }
            }
            children.cancelAll()
        }
        end()
    }

    private func execute(
        _ effect: BlobUploads.Effect, _ alarm: inout Alarm, in children: inout ChildTasks
    ) async -> BlobUploads.Event? {
        switch effect {
        case .load(let limit):
            do {
                return .loaded(try await lane.run { [database] in try database.nextBlobs(limit: limit) })
            } catch {
                logger.error("the local database refused", metadata: ["error": "\(error)"])
                return .loaded([])
            }
        case .send(let key): await children.add { await self.send(key) }
        case .note(let key, let end):
            do {
                try await lane.run { [database] in try database.note(end, of: key) }
            } catch {
                // It is sent again, which changes nothing at the server.
                logger.error("the local database refused", metadata: ["error": "\(error)"])
            }
            if case .refused(let failure, _) = end { report(.blobRejected(key.digest, in: key.scope, failure)) }
        case .wake(let time):
            guard let wait = alarm.set(time, now: uptime.now) else { return nil }
            await children.add { [inbox, clock = environment.clock] in
                // Cancelled only together with the courier.
                try? await clock.sleep(for: .milliseconds(wait))
                inbox.rang()
            }
        case .roundEnded(let last): endRounds { $0 <= last }
        }
        return nil
    }

    private func retryRefused() async {
        do {
            try await lane.run { [database] in try database.change { db in _ = try BlobTable(db: db).retry() } }
        } catch {
            // The disk is full: what was refused stays refused until the next launch.
            logger.error("the local database refused", metadata: ["error": "\(error)"])
        }
    }

    private func send(_ key: BlobKey) async {
        let bytes: Data?
        do {
            bytes = try await lane.run { [database] in try database.unsentBlob(key) }
        } catch {
            return inbox.ended(key, .later("\(error)", after: nil))
        }
        guard let bytes else { return inbox.ended(key, .gone) }
        let bytesMax = state.withLock { $0.serverBytesMax }
        guard bytesMax > 0 else { return inbox.ended(key, .refused(.unsupported, "the server keeps no blobs")) }
        guard bytes.count <= bytesMax else {
            return inbox.ended(key, .refused(.tooLarge, "\(bytes.count) bytes; the server takes \(bytesMax)"))
        }
        inbox.ended(key, await server.put(bytes, as: key))
    }

    private func end() {
        let (waiting, rounds) = state.withLock { state in
            defer {
                state.waiting = [:]
                state.rounds = [:]
                state.isOver = true
            }
            return (state.waiting.values.map { $0 }, state.rounds.values.map { $0 })
        }
        for continuation in waiting { continuation.resume(throwing: BlobError(.offline, "the connection was ended")) }
        for continuation in rounds { continuation.resume() }
    }

    // MARK: Rounds

    /// Waits until all is sent that can be sent now, or the task is cancelled.
    func round() async {
        let round = number()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.rounds[round] = continuation }
                    return state.isOver
                }
                if isOver { return continuation.resume() }
                // Cancelled before the round was entered: the handler found nothing to end.
                if Task.isCancelled { return endRounds { $0 == round } }
                inbox.round(round)
            }
        } onCancel: {
            endRounds { $0 == round }
        }
    }

    private func endRounds(where isOver: (Int64) -> Bool) {
        let ended = state.withLock { state in
            let ended = state.rounds.filter { isOver($0.key) }
            for round in ended.keys { state.rounds[round] = nil }
            return ended
        }
        for continuation in ended.values { continuation.resume() }
    }

    private func number() -> Int64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    // MARK: Fetching

    /// Fetches a blob. Callers that want the same one share a download.
    ///
    /// - Throws: `BlobError`; `CancellationError` for this caller alone.
    func read(_ key: BlobKey) async throws -> Data {
        let waiter = number()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<BlobDownloads.Answer, BlobError> = state.withLock { state in
                    if state.isOver || !state.isLinked {
                        return .failure(BlobError(.offline, "there is no connection"))
                    }
                    guard !state.isHolding else {
                        return .failure(BlobError(.otherNetwork, "BlobPolicy.networks excludes this network"))
                    }
                    guard state.serverBytesMax > 0 else {
                        return .failure(BlobError(.unsupported, "the server keeps no blobs"))
                    }
                    let answer = state.downloads.ask(key, by: waiter)
                    if answer != .busy { state.waiting[waiter] = continuation }
                    return .success(answer)
                }
                switch answer {
                case .failure(let error): continuation.resume(throwing: error)
                case .success(.busy):
                    continuation.resume(throwing: BlobError(.busy, "too many downloads are waiting"))
                case .success(.start): inbox.fetch([key])
                case .success(.wait): break
                }
                // Cancelled before the waiter was entered: the handler found nothing.
                if Task.isCancelled { leave(key, waiter) }
            }
        } onCancel: {
            leave(key, waiter)
        }
    }

    private func leave(_ key: BlobKey, _ waiter: Int64) {
        let continuation = state.withLock { state in
            state.downloads.leave(key, waiter)
            return state.waiting.removeValue(forKey: waiter)
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func fetch(_ key: BlobKey) async {
        let result = await fetched(key)
        let (waiting, next) = state.withLock { state in
            let (waiters, next) = state.downloads.ended(key)
            return (waiters.compactMap { state.waiting.removeValue(forKey: $0) }, next)
        }
        if !next.isEmpty { inbox.fetch(next) }
        for continuation in waiting { continuation.resume(with: result) }
    }

    private func fetched(_ key: BlobKey) async -> Result<Data, any Error> {
        let policy = database.limits.cache.blobs
        do {
            let bytes = try await server.get(key, bytesMax: policy.maxBytes)
            guard try await hold(bytes, key) else {
                throw BlobError(.notThere, "\(key): the account does not hold the scope")
            }
            return .success(bytes)
        } catch {
            return .failure(error)
        }
    }

    private func hold(_ bytes: Data, _ key: BlobKey) async throws -> Bool {
        do {
            return try await lane.run { [database, now = environment.now()] in
                try database.hold(bytes, as: key, now: now)
            }
        } catch let error as StoreError where error.code == .diskFull {
            // The caller gets the bytes all the same; they are fetched again the next time.
            return true
        }
    }
}
