import TidemarkLock
import TidemarkModel

/// The listeners to ephemeral messages, by scope. A slow listener loses the oldest messages.
final class EphemeralListeners: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<EphemeralMessage>.Continuation] = [:]
        var byScope: [ScopeID: Set<Int>] = [:]
        var last = 0
    }

    /// The number of messages that wait for one listener.
    private static let waitingMax = 64
    private let state = Lock(State())

    /// The messages in the scope from now on.
    func values(in scope: ScopeID) -> AsyncStream<EphemeralMessage> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EphemeralMessage.self, bufferingPolicy: .bufferingNewest(Self.waitingMax))
        let id = state.withLock { state in
            state.last += 1
            state.continuations[state.last] = continuation
            state.byScope[scope, default: []].insert(state.last)
            return state.last
        }
        continuation.onTermination = { [weak self] _ in self?.end(id, in: scope) }
        return stream
    }

    func deliver(_ message: EphemeralMessage) {
        let listening = state.withLock { state in
            (state.byScope[message.scope] ?? []).compactMap { state.continuations[$0] }
        }
        // Not under the lock: a listener's executor may run the listener here.
        for continuation in listening { continuation.yield(message) }
    }

    /// The number of listeners, in all scopes.
    var count: Int { state.withLock { $0.continuations.count } }

    private func end(_ id: Int, in scope: ScopeID) {
        state.withLock { state in
            state.continuations[id] = nil
            state.byScope[scope]?.remove(id)
            if state.byScope[scope]?.isEmpty == true { state.byScope[scope] = nil }
        }
    }
}
