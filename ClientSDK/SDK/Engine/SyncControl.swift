import Foundation
import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// The identity of one engine: its reports are accepted until another engine takes its slot.
final class EnginePlace: Sendable {}

/// The engine that a store runs, its status, and the tasks that wait for a round. One engine at a time.
final class SyncControl: Sendable {
    /// A task that waits for the end of a round, or of a history's answer.
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
        /// The newest engine, also when it runs no more: reports of earlier ones are ignored.
        var place: EnginePlace?
        var task: Task<Void, Never>?
        var isPaused = false
        var rounds: [Int64: Round] = [:]
        var lastRound: Int64 = 0
        /// True when a comparison was requested without an engine; it is passed to the next one.
        var compares = false
        /// The histories that were requested without an engine, for the next one.
        var histories: [RecordKey] = []
    }

    /// The largest number of histories kept for the next engine; more are ignored.
    private static let historiesMax = 64

    private let state = Lock(State())
    private let changes = ChangeSignal()
    private let counting = CountWatch()

    var status: SyncStatus { state.withLock { $0.status } }

    /// Keeps the numbers of the status current from now on.
    func count(_ database: LocalDatabase) {
        let isFirst = counting.start(database) { [weak self] in self?.take($0) }
        // The values of an earlier launch. If the database cannot be read, they are left out.
        guard isFirst, let known = try? database.lastKnown() else { return }
        update { status in
            if status.lastSync == nil { status.lastSync = known.sync }
            if status.phase == .stopped { status.scopesLeftOut = known.scopesLeftOut }
        }
    }

    func update(_ change: @Sendable (inout SyncStatus) -> Void) { _ = update(by: nil, change) }

    /// - Parameter place: the identity of the engine that reports; `nil` when the report is not an engine's.
    /// - Returns: false when another engine has taken over; nothing has changed then.
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

    /// Returns the status with its numbers counted now, for callers that waited until something was done.
    func counted(_ database: LocalDatabase) async -> SyncStatus {
        count(database)
        await counting.refresh(database) { [weak self] in self?.take($0) }
        return status
    }

    private func take(_ counts: SyncCounts) { update { $0.take(counts) } }

    /// The status now and after each change; a slow watcher gets the newest.
    func values() -> AsyncStream<SyncStatus> { changes.values { [weak self] in self?.status } }

    // MARK: The engine

    /// Replaces the running engine and returns its task, already cancelled. An engine that runs in its caller's task is
    /// asked to disconnect.
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
        // The scopes watched a moment ago were passed to the engine before.
        engine?.watchChanged()
        if let before { before.cancel() } else { engineBefore?.want(false) }
        endAllRounds()
        tellPause(engine)
        return before
    }

    /// Notes that the engine has ended, and ends the rounds that wait for it.
    func ended(_ engine: SyncEngine) {
        let wasCurrent = state.withLock { state in
            guard state.engine === engine else { return false }
            state.engine = nil
            return true
        }
        if wasCurrent { endAllRounds() }
    }

    /// Asks the server for the history now, or with the next engine.
    func askHistory(of key: RecordKey) {
        let engine = state.withLock { state in
            let isKept = state.histories.contains(key) || state.histories.count >= Self.historiesMax
            if state.engine == nil, !isKept { state.histories.append(key) }
            return state.engine
        }
        engine?.history(of: key)
    }

    /// Asks for the history and waits for the end of the server's answer. Returns at once without a connection, and at
    /// the latest when the connection ends or the time is up.
    func history(of key: RecordKey, within bound: Duration, by clock: any Clock<Duration>) async {
        guard bound > .zero else { return askHistory(of: key) }
        await withTaskGroup { group in
            group.addTask {
                // An engine that is not connected asks with its next connection; the caller does not wait for that.
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

    /// Ends the waits for histories: the connection has ended, and no answers will arrive.
    func endHistories() { end { if case .history = $1.subject { true } else { false } } }

    /// Asks for a comparison now, or with the next engine.
    func compare() {
        let engine = state.withLock { state in
            state.compares = state.engine == nil
            return state.engine
        }
        engine?.compare()
    }

    /// Passes on that older records are wanted. Without an engine nothing is needed: the next one looks by itself.
    func wantPages() { state.withLock { $0.engine }?.wantsPages() }

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func setPaused(_ isPaused: Bool) {
        let engine = state.withLock { state in
            state.isPaused = isPaused
            return state.engine
        }
        tellPause(engine)
    }

    /// Repeats until the value passed on is the one that is set: two callers may overtake each other.
    private func tellPause(_ engine: SyncEngine?) {
        guard let engine else { return }
        var told: Bool
        repeat {
            told = isPaused
            engine.want(!told)
        } while told != isPaused
    }

    /// Sends an ephemeral message; without an engine it is dropped.
    func say(_ message: Ephemeral) { state.withLock { $0.engine }?.say(message) }

    func watchChanged() { state.withLock { $0.engine }?.watchChanged() }

    // MARK: Rounds

    /// Asks the engine for a round and waits for its end. Returns at once without an engine, or when the task is
    /// cancelled.
    ///
    /// - Parameter collection: `nil` for all.
    func round(of collection: String? = nil) async {
        _ = await wait(for: collection.map { .collection($0) } ?? .everything) { engine, round in
            if let collection { engine.sync(collection, round: round) } else { engine.sync(round: round) }
        }
    }

    /// - Returns: false without an engine, or when the status does not allow it; nothing was asked then.
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
                // The task was cancelled before the round was registered: the cancellation handler found nothing.
                if Task.isCancelled { return end(round) }
                ask(engine, round)
            }
        } onCancel: {
            end(round)
        }
        return isAsked
    }

    /// - Parameter collection: `nil` for the rounds of everything.
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
