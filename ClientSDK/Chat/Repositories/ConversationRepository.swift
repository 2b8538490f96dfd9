public import Foundation
public import Tidemark

/// The conversations of the store's user.
public protocol ConversationRepository: Sendable {
    /// Observes the conversations of which the user is a member, the most recent messages first: now and after each
    /// change.
    func observe(newest limit: Int) -> LiveValues<[Conversation]>

    /// Observes one conversation: now and after each change; `nil` while the user is not a member.
    func observe(id: UUID) -> LiveValues<Conversation?>

    /// Returns one conversation; `nil` when the user is not a member.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func read(_ id: UUID) async throws -> Conversation?

    /// Returns the direct conversation with another user; creates it if needed. It is the same for both users, even if
    /// both create it while they are offline.
    ///
    /// - Throws: `ChatError.taken`; otherwise as `SyncStore.write(_:)` does.
    func createDirect(with user: UserID) async throws -> Conversation

    /// Opens a group of the user and these members, with the user as its admin.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    func createGroup(name: String, imageURL: URL?, members: Set<UserID>) async throws -> Conversation

    /// Adds and removes members; two such changes at the same time both take effect. A removed member loses the
    /// conversation on all devices.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func changeMembers(of group: UUID, adding: Set<UserID>, removing: Set<UserID>) async throws

    /// Leaves a group: it is gone from this device at once.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func leave(_ group: UUID) async throws

    /// Deletes a conversation with all its messages. It is gone from the list at once; its messages and receipts are
    /// deleted on all devices when the server has the deletion. Only the user who opened it may do so; messages that
    /// others write meanwhile are refused.
    ///
    /// - Throws: `ChatError.notFound`, or `StoreError` with `rejected(.forbidden)` for a user who may not.
    func delete(_ conversation: UUID) async throws

    /// Observes the presence of a conversation's members, by user: now and after each change; without a connection
    /// nobody is present.
    func observePresence(in conversation: UUID) -> AsyncStream<[UserID: Presence]>

    /// Renames a group.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func rename(_ group: UUID, to name: String) async throws

    /// Sets or removes a group's image.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func setImage(of group: UUID, to url: URL?) async throws
}
