import NIOCore
import Synchronization
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

/// What other threads have for the hub of one event loop. Any thread posts; the loop takes all at once.
final class HubInbox: Sendable {
    private struct State {
        var events: [HubEvent] = []
        var bytes = 0
        /// Messages of other hubs among them; beyond `messagesMax` they are dropped.
        var messages = 0
        /// Workspaces whose batches no longer fit, with the end of the last that was left out.
        var overflow: [WorkspaceID: Head] = [:]
        var isScheduled = false
        /// The time of the oldest batch in it, or left out.
        var oldest: Milliseconds?
    }

    /// Messages of other hubs that one loop has not taken over yet.
    private static let messagesMax = 4_096

    let eventLoop: any EventLoop
    /// Its place among the node's loops.
    let number: Int
    private let bytesMax: Int
    private let state = Mutex(State())
    /// Sockets of the loop that do not take what they are sent.
    let slow = Atomic<Int>(0)
    /// The loop's executor; set and used on the loop.
    let executor: NIOLoopBoundBox<HubExecutor?>

    init(eventLoop: any EventLoop, number: Int, bytesMax: Int) {
        self.eventLoop = eventLoop
        self.number = number
        self.bytesMax = bytesMax
        executor = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
    }

    /// Adds an event; the first of a burst wakes the loop.
    func post(_ event: HubEvent) {
        let wakes = state.withLock { state in
            defer { state.isScheduled = true }
            put(event, &state)
            return !state.isScheduled
        }
        if wakes { eventLoop.execute { self.deliver() } }
    }

    private func put(_ event: HubEvent, _ state: inout State) {
        if case .heard = event {
            guard state.messages < Self.messagesMax else { return }
            state.messages += 1
        }
        // What was left out is of no concern to a workspace that begins again.
        if case .rewound(let workspace, _) = event { state.overflow[workspace] = nil }
        guard case .committed(let workspace, let batch) = event else { return state.events.append(event) }
        if state.oldest == nil { state.oldest = batch.head.time }
        // The loop lags behind the commits: its clients will read what is left out here from the store.
        guard state.overflow[workspace] == nil, state.bytes < bytesMax else {
            state.overflow[workspace] = batch.head
            return
        }
        state.bytes += batch.byteCount
        state.events.append(event)
    }

    /// The time of the oldest batch that the loop has not taken over; `nil` when it has all of them. Any thread.
    var oldest: Milliseconds? { state.withLock { $0.oldest } }

    private func deliver() {
        let events = state.withLock { state in
            var events = state.events
            for (workspace, head) in state.overflow { events.append(.missed(workspace, head)) }
            state = State()
            return events
        }
        executor.value?.apply(events)
    }
}
