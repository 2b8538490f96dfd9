import NIOCore
import TidemarkEdge
import TidemarkLock
package import TidemarkModel

/// Lets a bounded number of reads run at once. The others wait: those of a workspace in their order, and the
/// workspaces take turns. A workspace with thousands of waiting reads delays another one by at most one read for each
/// turn.
package final class ReadGate: Sendable {
    private struct State {
        var free: Int
        /// The waiting reads of each workspace; reads of no workspace share the key `nil`.
        private var waiting: [WorkspaceID?: CircularBuffer<CheckedContinuation<Void, Never>>] = [:]
        /// The workspaces that have waiting reads, each once; the first has the next turn.
        private var turns = CircularBuffer<WorkspaceID?>()

        init(free: Int) { self.free = free }

        mutating func append(_ read: CheckedContinuation<Void, Never>, of workspace: WorkspaceID?) {
            if waiting[workspace] == nil { turns.append(workspace) }
            waiting[workspace, default: CircularBuffer()].append(read)
        }

        mutating func popFirst() -> CheckedContinuation<Void, Never>? {
            guard let workspace = turns.popFirst(), let next = waiting[workspace]?.popFirst() else { return nil }
            if waiting[workspace]?.isEmpty == true {
                waiting[workspace] = nil
            } else {
                turns.append(workspace)
            }
            return next
        }

        var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
    }

    private let state: Lock<State>
    private let observe: @Sendable (_ waited: Duration, _ took: Duration) -> Void

    /// - Parameter observe: called after each read.
    init(permits: Int, observe: @escaping @Sendable (_ waited: Duration, _ took: Duration) -> Void = { _, _ in }) {
        state = Lock(State(free: max(1, permits)))
        self.observe = observe
    }

    /// The number of reads that wait.
    var waitingCount: Int { state.withLock(\.count) }

    /// Runs `body` when it is its turn. A cancellation does not end the wait: the reads before it end by themselves.
    ///
    /// - Parameter workspace: the workspace whose data is read; `nil` for reads over several workspaces.
    package func pass<Value, Failure: Error>(
        for workspace: WorkspaceID? = nil, _ body: () async throws(Failure) -> sending Value
    ) async throws(Failure) -> sending Value {
        let asked = ContinuousClock.now
        await enter(workspace)
        let begun = ContinuousClock.now
        defer {
            leave()
            observe(asked.duration(to: begun), begun.duration(to: .now))
        }
        return try await body()
    }

    private func enter(_ workspace: WorkspaceID?) async {
        let isFree = state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
        guard !isFree else { return }
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                // A permit may have come back between the two locks.
                if state.free > 0 {
                    state.free -= 1
                    return true
                }
                state.append(continuation, of: workspace)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Hands the permit to the read that has the next turn.
    private func leave() {
        let next = state.withLock { state in
            let next = state.popFirst()
            if next == nil { state.free += 1 }
            return next
        }
        next?.resume()
    }
}
