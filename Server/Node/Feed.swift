import Logging
import TidemarkHub
import TidemarkLock
package import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// One workspace that this process follows: its gapless tail, and the loops that get its batches. Any thread.
///
/// The tail's output is posted to every loop under the feed's lock, which keeps the order of the batches the same for
/// all of them. Batches are encoded before, except those that waited for batches of other nodes. The only lock taken
/// inside is an inbox's.
package final class Feed: Sendable {
    /// The outcome of `begin`.
    enum Start {
        case followed
        /// The caller is the first: it must follow the workspace in the store and then call `started` or `failed`.
        case begin
        /// Another caller is asking the store.
        case wait
        /// The feed was retired: open another one.
        case retired
    }

    private struct State {
        var tail: Tail?
        var isStarting = false
        /// Own batches that were committed while the store was asked for the head.
        var early: [CommittedBatch] = []
        var starters: [CheckedContinuation<Result<Void, StoreError>, Never>] = []
        var isReading = false
        /// The time at which the store was last read to its end, or followed.
        var confirmed: Milliseconds = 0
        var readsAgain = false
        var watchers: [UInt64: (after: SequenceNumber, wake: CheckedContinuation<Void, Never>)] = [:]
        var lastWatcher: UInt64 = 0
        var isEnded = false
        /// The number of rounds in a row in which the feed was not needed.
        var idleRounds = 0
        var isRetired = false
    }

    let workspace: WorkspaceID
    private let inboxes: [HubInbox]
    private let seal: CursorSeal
    private let state = Lock(State())

    init(workspace: WorkspaceID, inboxes: [HubInbox], seal: CursorSeal) {
        self.workspace = workspace
        self.inboxes = inboxes
        self.seal = seal
    }

    /// The end of the delivered order; `nil` until the workspace is followed.
    var head: Head? { state.withLock { $0.tail?.head } }

    /// Notifies the sessions of the workspace how far the order is safe.
    func tell(durable: SequenceNumber, in epoch: Epoch) {
        for inbox in inboxes { inbox.post(.durable(workspace, epoch, durable)) }
    }

    /// The last time at which nothing was missing here for certain; `nil` until the workspace is followed.
    var confirmed: Milliseconds? { state.withLock { $0.tail == nil ? nil : $0.confirmed } }

    /// The position at which a read of the store begins.
    private var mark: Tail.Mark? { state.withLock { $0.tail?.mark } }

    /// Records that the store was read as of this number.
    func saw(_ seq: SequenceNumber) { state.withLock { $0.tail?.saw(seq) } }

    /// True while a batch of another node has to be read before own ones can go out.
    var hasGap: Bool { state.withLock { $0.tail?.hasGap ?? false } }

    // MARK: Start

    /// Makes sure that the workspace is followed. Of many simultaneous callers, one asks the store by `ask`.
    ///
    /// - Parameter now: a time before the store is asked.
    /// - Returns: false when the feed was retired meanwhile.
    func follow(now: Milliseconds, _ ask: () async throws(StoreError) -> Head) async throws(StoreError) -> Bool {
        switch begin() {
        case .followed: return true
        case .retired: return false
        case .begin:
            do throws(StoreError) {
                started(from: try await ask(), at: now)
            } catch {
                failed(error)
                throw error
            }
        case .wait:
            let result = await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.isStarting else { return true }
                    state.starters.append(continuation)
                    return false
                }
                // The first caller ended between the two locks.
                if isOver {
                    let failure = StoreError(.unavailable, "the workspace could not be followed")
                    continuation.resume(returning: head == nil ? .failure(failure) : .success(()))
                }
            }
            try result.get()
        }
        return true
    }

    private func begin() -> Start {
        state.withLock { state in
            if state.isRetired { return .retired }
            state.idleRounds = 0
            if state.tail != nil { return .followed }
            if state.isStarting { return .wait }
            state.isStarting = true
            return .begin
        }
    }

    private func started(from head: Head, at now: Milliseconds) {
        let starters = state.withLock { state in
            var tail = Tail(head: head)
            for inbox in inboxes { inbox.post(.follow(workspace, head)) }
            for batch in state.early { giveOut(tail.committed(batch), &state) }
            state.tail = tail
            state.confirmed = now
            state.early = []
            state.isStarting = false
            defer { state.starters = [] }
            return state.starters
        }
        for starter in starters { starter.resume(returning: .success(())) }
    }

    private func failed(_ error: StoreError) {
        let starters = state.withLock { state in
            state.early = []
            state.isStarting = false
            defer { state.starters = [] }
            return state.starters
        }
        for starter in starters { starter.resume(returning: .failure(error)) }
    }

    // MARK: Rest

    /// Called periodically: retires the feed after so many calls in a row on which it was unused. True when it did;
    /// connections that arrive at this moment are asked to reconnect.
    func rests(afterIdle rounds: Int, isUsed: Bool) -> Bool {
        state.withLock { state in
            let isFree = !isUsed && !state.isStarting && !state.isReading && state.watchers.isEmpty
            state.idleRounds = isFree ? state.idleRounds + 1 : 0
            guard state.idleRounds >= rounds else { return false }
            for inbox in inboxes { inbox.post(.unfollow(workspace)) }
            state.tail = nil
            state.isEnded = true
            state.isRetired = true
            return true
        }
    }

    // MARK: Batches

    /// Delivers a batch that this process committed. True when batches before it must be read from the store.
    func committed(_ batch: CommittedBatch) -> Bool {
        let delivery = delivery(of: batch)
        return state.withLock { state in
            if state.isStarting { state.early.append(batch) }
            guard let outputs = state.tail?.committed(batch) else { return false }
            giveOut(outputs, encoded: delivery, &state)
            return state.tail?.hasGap ?? false
        }
    }

    /// The stored order's end after it went back, and the delivered order's end before.
    struct Rewind: Hashable {
        let before: Head
        let after: Head
    }

    /// Reads the commits of other nodes until there are no more. One caller reads at a time; the others leave it to
    /// that one.
    ///
    /// - Parameters:
    ///   - limit: batches in one read.
    ///   - isCommitting: whether this node has batches of the workspace that are being committed or are not delivered.
    ///   - follow: called when the stored order is not the delivered one, with a delivered batch that is
    ///     not stored; returns the head to begin again from.
    ///   - rewound: called after that; clients that received the lost history are asked to reconnect.
    func readOn(
        now: () -> Milliseconds, limit: Int, isCommitting: () -> Bool,
        follow: (_ lost: Head) async throws(StoreError) -> Head,
        rewound: (Rewind) -> Void, _ read: (SequenceNumber) async throws(StoreError) -> TailRead
    ) async throws(StoreError) {
        let begins = state.withLock { state in
            guard state.tail != nil else { return false }
            defer { state.isReading = true }
            if state.isReading { state.readsAgain = true }
            return !state.isReading
        }
        guard begins else { return }
        var hasRestarted = false
        var goesOn = true
        while goesOn {
            do throws(StoreError) {
                let (mark, begun) = (mark, now())
                let found = try await read(mark?.head.seq ?? 0)
                if let mayGoOn = took(found, from: mark, limit: limit, isCommitting: isCommitting()) {
                    goesOn = mayGoOn
                    if !mayGoOn { confirm(at: begun) }
                } else if !hasRestarted {
                    let stored = try await follow(mark?.lost(for: found) ?? .start)
                    restart(at: stored)
                    hasRestarted = true
                    rewound(Rewind(before: mark?.head ?? .start, after: stored))
                } else {
                    throw StoreError(.unavailable, "the store's answers about its order contradict each other")
                }
            } catch {
                state.withLock { ($0.isReading, $0.readsAgain) = (false, false) }
                throw error
            }
        }
    }

    /// Records that everything that was stored at this time is known here.
    func confirm(at time: Milliseconds) { state.withLock { $0.confirmed = time } }

    /// Takes over the batches that were read; true when there may be more, `nil` when the order has gone back.
    private func took(_ found: TailRead, from mark: Tail.Mark?, limit: Int, isCommitting: Bool) -> Bool? {
        state.withLock { state in
            let before = state.tail?.head.seq
            let isWhole = found.batches.count < limit
            switch mark.flatMap({ state.tail?.read(found, from: $0, isWhole: isWhole, isCommitting: isCommitting) }) {
            case .outputs(let outputs): giveOut(outputs, &state)
            case .rewound: return nil
            case nil: break
            }
            let hasMoved = state.tail?.head.seq != before
            let goesOn = hasMoved || state.readsAgain
            state.readsAgain = false
            if !goesOn { state.isReading = false }
            return goesOn
        }
    }

    /// Discards all state that follows from the delivered order: the workspace's next event is of the stored history.
    func restart(at head: Head) {
        state.withLock { state in
            state.tail?.restart(at: head)
            for inbox in inboxes { inbox.post(.rewound(workspace, head)) }
            wake(upTo: .max, &state)
        }
    }

    private func delivery(of batch: CommittedBatch) -> DeliveryBatch {
        DeliveryBatch(batch, cursor: seal.cursor(batch.head, workspace: workspace.text))
    }

    private func giveOut(_ outputs: [Tail.Output], encoded: DeliveryBatch? = nil, _ state: inout State) {
        guard let last = outputs.last else { return }
        for output in outputs {
            switch output {
            case .batch(let batch):
                let delivery = encoded.flatMap { $0.head == batch.head ? $0 : nil } ?? delivery(of: batch)
                for inbox in inboxes { inbox.post(.committed(workspace, delivery)) }
            case .missed(let head):
                for inbox in inboxes { inbox.post(.missed(workspace, head)) }
            }
        }
        wake(upTo: last.head.seq, &state)
    }

    // MARK: Watchers

    /// The number of callers that wait in `moved(beyond:)`.
    var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// Waits until something was committed after `seq`, the task is cancelled, or the feed ends.
    package func moved(beyond seq: SequenceNumber) async {
        let id = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !state.isEnded, !Task.isCancelled, (state.tail?.head.seq ?? 0) <= seq else { return true }
                    state.watchers[id] = (seq, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            // Before the watcher is added, `isCancelled` above sees the cancellation instead.
            state.withLock { $0.watchers.removeValue(forKey: id) }?.wake.resume()
        }
    }

    /// Wakes all watchers, so that they check whether they may still wait.
    func wakeAll() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            return state.watchers.values.map(\.wake)
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Wakes all watchers, now and from now on.
    func end() {
        let watchers = state.withLock { state in
            state.isEnded = true
            defer { state.watchers = [:] }
            return state.watchers.values.map(\.wake)
        }
        for watcher in watchers { watcher.resume() }
    }

    /// Resuming only schedules the waiting tasks: nothing of theirs runs under the lock.
    private func wake(upTo seq: SequenceNumber, _ state: inout State) {
        guard !state.watchers.isEmpty else { return }
        for (id, watcher) in state.watchers where watcher.after < seq {
            state.watchers[id] = nil
            watcher.wake.resume()
        }
    }
}

extension Tail.Output {
    fileprivate var head: Head {
        switch self {
        case .batch(let batch): batch.head
        case .missed(let head): head
        }
    }
}

/// The workspaces that this process follows. Any thread.
package final class Feeds: Sendable {
    private let inboxes: [HubInbox]
    private let seal: CursorSeal
    private let feeds = Lock<[WorkspaceID: Feed]>([:])

    init(inboxes: [HubInbox], seal: CursorSeal) {
        self.inboxes = inboxes
        self.seal = seal
    }

    /// All feeds, in no order.
    var all: [Feed] { feeds.withLock { Array($0.values) } }

    /// Returns the workspace's feed; `nil` if it was never opened or has been retired.
    subscript(workspace: WorkspaceID) -> Feed? { feeds.withLock { $0[workspace] } }

    /// Returns the workspace's feed, made on first use; it is not followed yet.
    package func open(_ workspace: WorkspaceID) -> Feed {
        feeds.withLock { feeds in
            if let feed = feeds[workspace] { return feed }
            let feed = Feed(workspace: workspace, inboxes: inboxes, seal: seal)
            feeds[workspace] = feed
            return feed
        }
    }

    /// Retires the feeds that were unused for so many calls in a row, and returns them.
    func rest(afterIdle rounds: Int, used: Set<WorkspaceID>) -> [Feed] {
        feeds.withLock { feeds in
            let resting = feeds.values.filter { $0.rests(afterIdle: rounds, isUsed: used.contains($0.workspace)) }
            for feed in resting { feeds[feed.workspace] = nil }
            return resting
        }
    }

    /// Wakes the watchers of all feeds, now and from now on.
    func end() {
        for feed in all { feed.end() }
    }
}

extension Feed {
    /// Reads on from a store; after a failure, the next poll tries again.
    func readOn(from reader: TailReader) async {
        let (store, logger) = (reader.store, reader.logger)
        do throws(StoreError) {
            try await readOn(
                now: reader.now, limit: reader.batchesMax,
                isCommitting: { reader.commits.isCommitting(in: workspace) },
                follow: { (lost: Head) async throws(StoreError) in
                    // If the store is a copy that cannot be written, this fails: a copy that lags has not gone back
                    //
                    _ = try await reader.epochs.begin(.lost(lost), reason: .head, in: workspace)
                    return try await store.follow(workspace, node: reader.node, now: reader.now())
                },
                rewound: { rewind in
                    logger.critical(
                        "The database went back: the order of a workspace is not the one that clients received",
                        metadata: [
                            "workspace": "\(workspace)", "before": "\(rewind.before.seq)",
                            "after": "\(rewind.after.seq)",
                        ])
                }
            ) { seq throws(StoreError) in
                try await store.tail(after: seq, limit: reader.batchesMax, in: workspace)
            }
        } catch .erasedWorkspace {
            // Connected clients reconnect, and are then informed.
            restart(at: .start)
        } catch {
            logger.warning(
                "Could not read other nodes' commits", metadata: ["workspace": "\(workspace)", "error": "\(error)"])
            // Unreadable data of one workspace does not mean that the store is unavailable.
            if error.kind != .unavailable { confirm(at: reader.now()) }
        }
    }
}

/// The parts that a feed needs to read on from the store.
struct TailReader: Sendable {
    let store: any Store
    let commits: GroupCommit
    let epochs: Epochs
    let node: UInt64
    let now: @Sendable () -> Milliseconds
    /// Batches in one read.
    let batchesMax: Int
    let logger: Logger
}
