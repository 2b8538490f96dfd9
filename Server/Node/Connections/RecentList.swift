import NIOCore
import TidemarkLock
package import TidemarkModel
import TidemarkSequencer

/// The last events of one kind in this process, numbered; the oldest is forgotten first. Any thread.
package final class RecentList<One: Sendable>: Sendable {
    private struct State {
        var ones = CircularBuffer<One>()
        var number: Int64 = 0
    }

    private let countMax: Int
    private let state = Lock(State())

    init(countMax: Int) { self.countMax = countMax }

    /// Adds an element.
    ///
    /// - Parameter make: receives the element's number.
    func note(_ make: (Int64) -> One) {
        state.withLock { state in
            state.number += 1
            if state.ones.count == countMax { state.ones.removeFirst() }
            state.ones.append(make(state.number))
        }
    }

    /// Returns the matching elements, newest first, at most `limit`.
    package func newest(_ limit: Int, where matches: (One) -> Bool) -> [One] {
        state.withLock { state in
            var found: [One] = []
            for one in state.ones.reversed() where matches(one) {
                guard found.count < limit else { break }
                found.append(one)
            }
            return found
        }
    }
}

/// A transaction that this process refused.
package struct RefusedWrite: Hashable, Sendable {
    /// The refusal's number, counted by this process.
    package var number: Int64
    package var time: Milliseconds
    package var workspace: WorkspaceID
    package var user: UserID
    package var client: ClientID
    package var app: String?
    /// The client's number of the transaction.
    package var transaction: Int64
    package var rejection: Rejection
    /// The first records that it would have written; empty if it failed the checks that need no state.
    package var records: [RecordKey]

    /// The greatest number of records that are named.
    package static let recordsMax = 16
}

extension Node {
    /// The number of closed connections, and of refused writes, that are remembered.
    package static let recentMax = 1_000
}

extension Submission {
    /// Returns the records that one of its entries writes.
    func records(at index: Int) -> [RecordKey] {
        guard entries.indices.contains(index), case .success(let steps) = entries[index].steps else { return [] }
        return steps.prefix(RefusedWrite.recordsMax).map(\.key)
    }
}
