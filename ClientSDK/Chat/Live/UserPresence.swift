import Foundation
public import Tidemark

/// The presence of users. The server sends it to those who share a conversation with the user, and stores nothing.
///
///     for try await presence in chat.presence.observe(user) { badge.show(presence) }
public struct UserPresence: Sendable {
    private let store: SyncStore

    init(_ store: SyncStore) { self.store = store }

    /// Observes a user's presence: now and after each change; ends with its task. It is `unknown` without a connection,
    /// and without a conversation with the user.
    public func observe(_ user: UserID) -> PresenceUpdates { PresenceUpdates(store, user) }
}
