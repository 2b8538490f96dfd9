import TidemarkModel

/// Future events in the order of their times. A seeded tie-breaker orders equal times, so that no code can rely on an
/// order.
struct EventQueue {
    typealias Action = () -> Void

    private struct Entry {
        let time: Milliseconds
        let tie: UInt64
        let action: Action

        func precedes(_ other: Entry) -> Bool { time == other.time ? tie < other.tie : time < other.time }
    }

    private var heap: [Entry] = []
    private var ties: SplitMix

    init(seed: UInt64) { ties = SplitMix(seed: seed, "ties") }

    var isEmpty: Bool { heap.isEmpty }

    mutating func insert(at time: Milliseconds, _ action: @escaping Action) {
        heap.append(Entry(time: time, tie: ties.next(), action: action))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (time: Milliseconds, action: Action)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return (first.time, first.action)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if heap[child].precedes(heap[least]) { least = child }
            }
            if least == parent { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
