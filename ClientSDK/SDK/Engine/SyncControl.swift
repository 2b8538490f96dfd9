import Foundation
import GRDB
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// The identity of one engine: its reports are accepted until another engine takes its slot.
final class EngineIdentity: Sendable {}

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
        var status = SyncStatus(connection: .stopped, lastSync: nil)
        var engine: SyncEngine?
        /// The newest engine, also when it runs no more: reports of earlier ones are ignored.
        var identity: EngineIdentity?
        var task: Task<Void, Never>?
        var isPaused = false
        var rounds: [Int64: Round] = [:]
        var lastRound: Int64 = 0
        /// The comparison and the histories that were requested without an engine, for the next one.
        var kept = AppRequests()
    }

    let presence = PresenceBoard()
    private let state = Lock(State())
    private let changes = ChangeSignal()
    private let counting = CountWatch()

    var status: SyncStatus { state.withLock { $0.status } }

    /// Returns the status with its numbers. They are counted now if a commit may have changed them: then the call blocks
    /// for one short read.
    func counted(_ database: LocalDatabase) -> SyncStatus {
        let isFirst = counting.refresh(database, changed: { [weak self] in self?.changes.send() }) { counts in
            state.withLock { state in
                state.status.take(counts)
                state.status.follow()
            }
        }
        // The values of an earlier launch. If the database cannot be read, they are left out.
        if isFirst, let known = try? database.lastKnown() {
            update { status in
                if status.lastSync == nil { status.lastSync = known.sync }
                if status.connection == .stopped { status.scopesLeftOut = known.scopesLeftOut }
            }
        }
        return status
    }

    /// - Parameter identity: the identity of the engine that reports; `nil` when the report is not an engine's.
    /// - Returns: false when another engine has taken over; nothing has changed then.
    @discardableResult
    func update(by identity: EngineIdentity? = nil, _ change: @Sendable (inout SyncStatus) -> Void) -> Bool {
        let isHeard = state.withLock { state in
            guard identity == nil || state.identity === identity else { return false }
            change(&state.status)
            state.status.follow()
            return true
        }
        if isHeard { changes.send() }
        return isHeard
    }

    /// The status now and after each change; a slow watcher gets the newest.
    ///
    /// - Parameter database: the database whose counts are wanted; `nil` for a watcher of the phase alone.
    func values(counting database: LocalDatabase? = nil) -> AsyncStream<SyncStatus> {
        changes.values { [weak self] in database.flatMap { self?.counted($0) } ?? self?.status }
    }

    // MARK: The engine

    /// Replaces the running engine and returns its task, already cancelled. An engine that runs in its caller's task is
    /// asked to disconnect.
    func replace(engine: SyncEngine?, at identity: EngineIdentity?, task: Task<Void, Never>?) -> Task<Void, Never>? {
        let (engineBefore, before, kept) = state.withLock { state in
            defer {
                (state.engine, state.task) = (engine, task)
                if engine != nil { state.kept = AppRequests() }
            }
            if let identity {
                state.identity = identity
                (state.status.connection, state.status.pushPause) = (.stopped, nil)
                state.status.follow()
            }
            return (state.engine, state.task, state.kept.events)
        }
        changes.send()
        for event in kept { engine?.post(event) }
        if let before { before.cancel() } else { engineBefore?.post(.stop) }
        endAllRounds()
        // The scopes watched a moment ago were passed to the engine before.
        postWatched()
        postPause()
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

    /// Passes a request to the engine; without one it is dropped. None is needed for writes and pages, for which the next
    /// engine looks by itself.
    func post(_ event: SyncEvent) { state.withLock { $0.engine }?.post(event) }

    /// Asks for a comparison or a history now, or with the next engine.
    func ask(_ event: SyncEvent) {
        let engine = state.withLock { state in
            if state.engine == nil { state.kept.add(event) }
            return state.engine
        }
        engine?.post(event)
    }

    /// Asks for the history and waits for the end of the server's answer. Returns at once without a connection, and at
    /// the latest when the connection ends or the time is up.
    func history(of key: RecordKey, within bound: Duration, by clock: any Clock<Duration>) async {
        guard bound > .zero else { return ask(.history(key)) }
        await withTaskGroup { group in
            group.addTask {
                // An engine that is not connected asks with its next connection; the caller does not wait for that.
                let isSent = await self.wait(for: .history(key), where: \.connection.isConnected) { _ in .history(key) }
                if !isSent { self.ask(.history(key)) }
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

    var isPaused: Bool { state.withLock { $0.isPaused } }

    func setPaused(_ isPaused: Bool) {
        state.withLock { $0.isPaused = isPaused }
        postPause()
    }

    private func postPause() { post({ self.isPaused }) { $0 ? .stop : .start } }

    /// Passes on the scopes whose presence is watched.
    func postWatched() { post({ self.presence.wanted }) { .watch($0) } }

    /// Repeats until the value passed on is the current one: two callers may overtake each other.
    private func post<Value: Equatable>(_ value: () -> Value, as event: (Value) -> SyncEvent) {
        var posted: Value
        repeat {
            posted = value()
            post(event(posted))
        } while posted != value()
    }

    // MARK: Rounds

    /// Asks the engine for a round and waits for its end. Returns at once without an engine, or when the task is
    /// cancelled.
    ///
    /// - Parameter collection: `nil` for all.
    func round(of collection: String? = nil) async {
        _ = await wait(for: collection.map { .collection($0) } ?? .everything) { round in
            collection.map { .syncCollection($0, round: round) } ?? .sync(round: round)
        }
    }

    /// - Returns: false without an engine, or when the status does not allow it; nothing was asked then.
    private func wait(
        for subject: Round.Subject, where isPossible: (SyncStatus) -> Bool = { _ in true },
        _ event: (Int64) -> SyncEvent
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
                engine.post(event(round))
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
