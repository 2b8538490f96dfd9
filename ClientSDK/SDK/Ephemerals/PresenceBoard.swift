import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// What the server says of who is there, for the scopes that somebody watches. Known only while connected.
final class PresenceBoard: Sendable {
    typealias Users = [UserID: Presence]

    private struct Watched {
        var users: Users = [:]
        var watchers: [Int: AsyncStream<Users>.Continuation] = [:]
    }

    private struct State {
        var scopes: [ScopeID: Watched] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// The scopes that are watched.
    var wanted: Set<ScopeID> { state.withLock { Set($0.scopes.keys) } }

    /// The scope's users now and after each change; a slow watcher sees the newest.
    ///
    /// - Parameter changed: called when `wanted` has changed.
    func values(in scope: ScopeID, changed: @escaping @Sendable () -> Void) -> AsyncStream<Users> {
        let (stream, continuation) = AsyncStream.makeStream(of: Users.self, bufferingPolicy: .bufferingNewest(1))
        let (id, users) = state.withLock { state in
            state.last += 1
            state.scopes[scope, default: Watched()].watchers[state.last] = continuation
            return (state.last, state.scopes[scope]?.users ?? [:])
        }
        continuation.yield(users)
        continuation.onTermination = { [weak self] _ in
            if self?.end(id, in: scope) == true { changed() }
        }
        changed()
        return stream
    }

    /// A word of the server.
    func tell(_ message: Ephemeral) {
        guard let user = message.user else { return }
        change(message.scope) { $0[user] = Presence(message.payload) }
    }

    /// The connection is gone, and with it everything that was known.
    func lost() {
        for scope in wanted { change(scope) { $0 = [:] } }
    }

    private func change(_ scope: ScopeID, _ change: (inout Users) -> Void) {
        let (users, watchers) = state.withLock { state -> (Users, [AsyncStream<Users>.Continuation]) in
            guard var watched = state.scopes[scope] else { return ([:], []) }
            let before = watched.users
            change(&watched.users)
            state.scopes[scope] = watched
            return (watched.users, watched.users == before ? [] : Array(watched.watchers.values))
        }
        // Not under the lock: a watcher's executor may run in place.
        for watcher in watchers { watcher.yield(users) }
    }

    /// True when nobody watches the scope any more.
    private func end(_ id: Int, in scope: ScopeID) -> Bool {
        state.withLock { state in
            state.scopes[scope]?.watchers[id] = nil
            guard state.scopes[scope]?.watchers.isEmpty == true else { return false }
            state.scopes[scope] = nil
            return true
        }
    }
}

extension Presence {
    /// As the server's words have it.
    init(_ payload: Fields) {
        if payload["online"] == .boolean(true) {
            self = .online
        } else if case .integer(let time)? = payload["seen"] {
            self = .lastSeen(Date(timeIntervalSince1970: Double(time) / 1_000))
        } else {
            self = .unknown
        }
    }
}
