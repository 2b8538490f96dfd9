import Foundation
import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// Stands for one engine: what it says counts until another one has its place.
final class EnginePlace: Sendable {}

/// The engine that a store runs, its status, and who waits for a round. One engine at a time.
final class SyncControl: Sendable {
    /// A task that waits for the end of something.
    private struct Round {
        enum Subject: Hashable {
            case everything
            case collection(String)
            case history(RecordKey)
        }

        let subject: Subject
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var status = SyncStatus(phase: .stopped, lastSync: nil)
        var engine: SyncEngine?
        /// The engine that came last, also when it runs no more: what an earlier one still says of itself is over.
        var place: EnginePlace?
        var task: Task<Void, Never>?
        var isPaused = false
        var rounds: [Int64: Round] = [:]
        var lastRound: Int64 = 0
        /// A comparison was asked for without an engine, for the next one.
        var compares = false
        /// Histories that were asked for without an engine, for the next one.
        var histories: [RecordKey] = []
    }

    /// Histories that are kept for the next engine; more are forgotten.
    private static let historiesMax = 64

    private let state = Lock(State())
    private let changes = ChangeSignal()
    private let counting = CountWatch()

    var status: SyncStatus { state.withLock { $0.status } }

    /// Keeps the numbers of the status current from now on.
    func count(_ database: LocalDatabase) {
        let isFirst = counting.start(database) { [weak self] in self?.take($0) }
        // What an earlier launch knew; a database that cannot be read has nothing to say.
        guard isFirst, let known = try? database.lastKnown() else { return }
        update { status in
            if status.lastSync == nil { status.lastSync = known.sync }
            if status.phase == .stopped { status.scopesLeftOut = known.scopesLeftOut }
        }
    }

    func update(_ change: @Sendable (inout SyncStatus) -> Void) { _ = update(by: nil, change) }

    /// - Parameter place: of the engine that says it; `nil` for what no engine says of itself.
    /// - Returns: false when another engine has taken the place; nothing has changed then.
    func update(by place: EnginePlace?, _ change: @Sendable (inout SyncStatus) -> Void) -> Bool {
        let isHeard = state.withLock { state in
            guard place == nil || state.place === place else { return false }
            change(&state.status)
            state.status.follow()
            return true
        }
        if isHeard { changes.send() }
        return isHeard
    }

    /// The status with the numbers of this moment: for who waited until something was done.
    func counted(_ database: LocalDatabase) async -> SyncStatus {
        count(database)
        await counting.refresh(database) { [weak self] in self?.take($0) }
        return status
    }

    private func take(_ counts: SyncCounts) { update { $0.take(counts) } }

    /// The status now and after each change; a slow watcher sees the newest.
    func values() -> AsyncStream<SyncStatus> { changes.values { [weak self] in self?.status } }

    // MARK: The engine

    /// Takes the place of the running engine, whose task is returned, already cancelled; one that runs in its caller's task
    /// is told to disconnect.
    func replace(engine: SyncEngine?, at place: EnginePlace?, task: Task<Void, Never>?) -> Task<Void, Never>? {
        let (engineBefore, before, histories, compares) = state.withLock { state in
            defer {
                (state.engine, state.task) = (engine, task)
                if engine != nil { (state.histories, state.compares) = ([], false) }
            }
            if let place {
                state.place = place
                (state.status.phase, state.status.pushPause) = (.stopped, nil)
                state.status.follow()
            }
            return (state.engine, state.task, engine == nil ? [] : state.histories, state.compares)
        }
        changes.send()
        if compares { engine?.compare() }
        for key in histories { engine?.history(of: key) }
        // What was watched a moment ago was told to the engine before.
        engine?.watchChanged()
        if let before { before.cancel() } else { engineBefore?.want(false) }
        endAllRounds()
        tellPause(engine)
        return before
    }

    /// The engine runs no more; nobody must wait for it.
    func ended(_ engine: SyncEngine) {
        let wasCurrent = state.withLock { state in
            guard state.engine === engine else { return false }
            state.engine = nil
            return true
        }
        if wasCurrent { endAllRounds() }
    }

    /// Asks now, or with the next engine.
    func askHistory(of key: RecordKey) {
        let engine = state.withLock { state in
            let isKept = state.histories.contains(key) || state.histories.count >= Self.historiesMax
            if state.engine == nil, !isKept { state.histories.append(key) }
            return state.engine
        }
        engine?.history(of: key)
    }

    /// The same, and waits for the end of the server's answer; returns at once without a connection, with the connection's
    /// end, and when the time is over.
    func history(of key: RecordKey, within bound: Duration, by clock: any Clock<Duration>) async {
        guard bound > .zero else { return askHistory(of: key) }
        await withTaskGroup { group in
            group.addTask {
                // An engine that is not connected asks with its next connection, which nobody waits for.
                let isWaited = await self.wait(for: .history(key), where: \.phase.isConnected) { engine, _ in
                    engine.history(of: key)
                }
                if !isWaited { self.askHistory(of: key) }
            }
            // Ends early when the answer is there.
            group.addTask { do { try await clock.sleep(for: bound) } catch {} }
            await group.next()
            group.cancelAll()
        }
    }

    func endHistory(of key: RecordKey) { end { $1.subject == .history(key) } }

    /// The connection is gone, and answers with it.
    func endHistories() { end { if case .history = $1.subject { true } else { false } } }

    /// Asks now, or with the next engine.
    func compare() {
        let engine = state.withLock { state in
            state.compares = state.engine == nil
            return state.engine
        }
        engine?.compare()
    }

    /// Older records are wanted; without an engine, the next one sees it by itself.
    func wantPages() { state.withLock { $0.engine }?.wantsPages() }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func setPaused(_ isPaused: Bool) {
        let engine = state.withLock { state in
            state.isPaused = isPaused
            return state.engine
        }
        tellPause(engine)
    }

    /// Until what was said is what holds: two callers may overtake each other.
    private func tellPause(_ engine: SyncEngine?) {
        guard let engine else { return }
        var told: Bool
        repeat {
            told = isPaused
            engine.want(!told)
        } while told != isPaused
    }

    /// Dropped without an engine.
    func say(_ message: Ephemeral) { state.withLock { $0.engine }?.say(message) }

    func watchChanged() { state.withLock { $0.engine }?.watchChanged() }

    // MARK: Rounds

    /// Asks the engine for a round and waits for its end; returns at once without an engine, or when the task is
    /// cancelled.
    ///
    /// - Parameter collection: `nil` for all.
    func round(of collection: String? = nil) async {
        _ = await wait(for: collection.map { .collection($0) } ?? .everything) { engine, round in
            if let collection { engine.sync(collection, round: round) } else { engine.sync(round: round) }
        }
    }

    /// - Returns: false where there is no engine, or the status is not as it must be: nobody was asked.
    private func wait(
        for subject: Round.Subject, where isPossible: (SyncStatus) -> Bool = { _ in true },
        _ ask: (SyncEngine, Int64) -> Void
    ) async -> Bool {
        var isAsked = false
        let round = state.withLock { state in
            state.lastRound += 1
            return state.lastRound
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let engine = state.withLock { state -> SyncEngine? in
                    guard let engine = state.engine, isPossible(state.status) else { return nil }
                    state.rounds[round] = Round(subject: subject, continuation: continuation)
                    return engine
                }
                guard let engine else { return continuation.resume() }
                isAsked = true
                // Cancelled before there was something to end: the handler found nothing.
                if Task.isCancelled { return end(round) }
                ask(engine, round)
            }
        } onCancel: {
            end(round)
        }
        return isAsked
    }

    /// - Parameter collection: the rounds of that collection, or those of everything.
    func endRounds(through last: Int64, of collection: String? = nil) {
        let subject = collection.map { Round.Subject.collection($0) } ?? .everything
        end { $0 <= last && $1.subject == subject }
    }

    private func endAllRounds() { end { _, _ in true } }

    private func end(_ round: Int64) { end { number, _ in number == round } }

    private func end(where isOver: (Int64, Round) -> Bool) {
        let ended = state.withLock { state in
            let ended = state.rounds.filter { isOver($0.key, $0.value) }
            for round in ended.keys { state.rounds[round] = nil }
            return ended
        }
        for round in ended.values { round.continuation.resume() }
    }
}
