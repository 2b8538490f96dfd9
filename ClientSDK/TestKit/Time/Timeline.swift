import TidemarkLock
import TidemarkModel

/// Virtual time and its scheduled actions. Nothing happens by itself: `runNext` runs the next action.
final class Timeline: Sendable {
    private struct Entry {
        let time: Milliseconds
        let order: UInt64
        let action: @Sendable () -> Void
    }

    private struct State {
        var now: Milliseconds
        /// The entries, the next one last; entries of the same time are in the order of scheduling.
        var entries: [Entry] = []
        var lastOrder: UInt64 = 0
    }

    private let state: Lock<State>

    init(now: Milliseconds) { state = Lock(State(now: now)) }

    var now: Milliseconds { state.withLock { $0.now } }

    func schedule(after wait: Int64, _ action: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.lastOrder += 1
            let entry = Entry(time: state.now + max(0, wait), order: state.lastOrder, action: action)
            var low = 0
            var high = state.entries.count
            while low < high {
                let middle = (low + high) / 2
                let other = state.entries[middle]
                if (other.time, other.order) > (entry.time, entry.order) { low = middle + 1 } else { high = middle }
            }
            state.entries.insert(entry, at: low)
        }
    }

    /// Advances to the next entry and runs it, if there is one up to `limit`.
    func runNext(through limit: Milliseconds) -> Bool {
        let entry = state.withLock { state -> Entry? in
            guard let last = state.entries.last, last.time <= limit else { return nil }
            state.entries.removeLast()
            state.now = max(state.now, last.time)
            return last
        }
        entry?.action()
        return entry != nil
    }

    /// Advances to a later time; entries before it are then due.
    func move(to time: Milliseconds) { state.withLock { $0.now = max($0.now, time) } }
}
