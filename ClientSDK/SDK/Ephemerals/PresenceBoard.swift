import Foundation
import TidemarkLock
import TidemarkModel
import TidemarkWire

/// The presence of users in the watched scopes, as the server reports it. Known only while connected.
final class PresenceBoard: Sendable {
    typealias Users = [UserID: Presence]

    private struct Watched {
        var users: Users = [:]
        let changes = ChangeSignal()
        var watchers = 0
    }

    private let scopes = Lock<[ScopeID: Watched]>([:])

    /// The scopes that are watched.
    var wanted: Set<ScopeID> { scopes.withLock { Set($0.keys) } }

    /// The scope's users now and after each change; a slow watcher gets the newest.
    ///
    /// - Parameter changed: called when `wanted` has changed.
    func values(in scope: ScopeID, changed: @escaping @Sendable () -> Void) -> AsyncStream<Users> {
        let changes = scopes.withLock { scopes in
            var watched = scopes[scope] ?? Watched()
            watched.watchers += 1
            scopes[scope] = watched
            return watched.changes
        }
        let values = changes.values(ended: { [weak self] in
            if self?.end(scope) == true { changed() }
        }) { [weak self] in self?.users(in: scope) }
        changed()
        return values
    }

    /// Takes a presence message of the server.
    func deliver(_ message: Ephemeral) {
        guard let user = message.user else { return }
        change(message.scope) { $0[user] = Presence(message.payload) }
    }

    /// Forgets everything: without a connection nothing is known.
    func lost() {
        for scope in wanted { change(scope) { $0 = [:] } }
    }

    private func users(in scope: ScopeID) -> Users { scopes.withLock { $0[scope]?.users ?? [:] } }

    private func change(_ scope: ScopeID, _ change: (inout Users) -> Void) {
        let changes = scopes.withLock { scopes in
            guard var watched = scopes[scope] else { return nil as ChangeSignal? }
            change(&watched.users)
            scopes[scope] = watched
            return watched.changes
        }
        changes?.send()
    }

    /// Ends a watch; returns true when the scope has no more watchers.
    private func end(_ scope: ScopeID) -> Bool {
        scopes.withLock { scopes in
            scopes[scope]?.watchers -= 1
            guard scopes[scope]?.watchers == 0 else { return false }
            scopes[scope] = nil
            return true
        }
    }
}

extension Presence {
    /// Parses the server's message.
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
