import NIOCore
import Synchronization
import TidemarkModel
import TidemarkSequencer
import TidemarkSession
import TidemarkStore
import TidemarkWire

/// What other threads have for the connections of one event loop. Any thread posts; the loop takes all at once.
final class LoopInbox: Sendable {
    /// One thing to tell the loop's fan-out.
    enum Letter: Sendable {
        case follow(WorkspaceID, Head)
        case unfollow(WorkspaceID)
        case committed(WorkspaceID, DeliveryBatch)
        case missed(WorkspaceID, Head)
        case rewound(WorkspaceID, Head)
        case loaded(SessionID, LoadAnswer)
        case loadFailed(SessionID)
        case windowRead(SessionID, Window)
        case pageRead(SessionID, PageRequest, Page?)
        case historyRead(SessionID, HistoryRequest, LedgerPage?)
        case settled(SessionID, PushOutcome, pushEnd: Int64?)
        case superseded(SessionID)
        case removed(SessionID)
        case heard(WorkspaceID, PeerWord)
        case drain
    }

    private struct State {
        var letters: [Letter] = []
        var bytes = 0
        /// Ephemeral letters among them; beyond `wordsMax` they are dropped.
        var words = 0
        /// Workspaces whose batches no longer fit, with the end of the last that was left out.
        var overflow: [WorkspaceID: Head] = [:]
        var isScheduled = false
    }

    /// Words of other machines that one loop has not taken over yet.
    private static let wordsMax = 4_096

    let eventLoop: any EventLoop
    /// Its place among the node's loops.
    let number: Int
    private let bytesMax: Int
    private let state = Mutex(State())
    /// The loop's hub; set and used on the loop.
    let hub: NIOLoopBoundBox<LoopHub?>

    init(eventLoop: any EventLoop, number: Int, bytesMax: Int) {
        self.eventLoop = eventLoop
        self.number = number
        self.bytesMax = bytesMax
        hub = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
    }

    /// Adds a letter; the first of a burst wakes the loop.
    func post(_ letter: Letter) {
        let wakes = state.withLock { state in
            defer { state.isScheduled = true }
            put(letter, &state)
            return !state.isScheduled
        }
        if wakes { eventLoop.execute { self.deliver() } }
    }

    private func put(_ letter: Letter, _ state: inout State) {
        if case .heard = letter {
            guard state.words < Self.wordsMax else { return }
            state.words += 1
        }
        // What was left out is of no concern to a workspace that begins again.
        if case .rewound(let workspace, _) = letter { state.overflow[workspace] = nil }
        guard case .committed(let workspace, let batch) = letter else { return state.letters.append(letter) }
        // The loop lags behind the commits: its clients will read what is left out here from the store.
        guard state.overflow[workspace] == nil, state.bytes < bytesMax else {
            state.overflow[workspace] = batch.head
            return
        }
        state.bytes += batch.byteCount
        state.letters.append(letter)
    }

    private func deliver() {
        let letters = state.withLock { state in
            var letters = state.letters
            for (workspace, head) in state.overflow { letters.append(.missed(workspace, head)) }
            state = State()
            return letters
        }
        hub.value?.open(letters)
    }
}
