import Foundation
public import Tidemark

/// Who is there. The server says so, to those who share a conversation with the user, and keeps nothing of it.
///
///     for try await presence in chat.presence.observe(user) { badge.show(presence) }
public struct UserPresence: Sendable {
    private let store: SyncStore

    init(_ store: SyncStore) { self.store = store }

    /// A user's presence, now and after each change; ends with its task. `unknown` while there is no connection, or no
    /// conversation with the user.
    public func observe(_ user: UserID) -> PresenceUpdates { PresenceUpdates(store, user) }
}
