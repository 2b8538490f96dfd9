public import Foundation
public import Tidemark

/// The conversations of the store's user.
public protocol ConversationRepository: Sendable {
    /// The conversations that the user belongs to, those with the newest messages first, now and after each change.
    func observe(newest limit: Int) -> LiveValues<[Conversation]>

    /// One conversation, now and after each change; `nil` while the user does not belong to it.
    func observe(id: UUID) -> LiveValues<Conversation?>

    /// One conversation; `nil` when the user does not belong to it.
    func read(_ id: UUID) async throws -> Conversation?

    /// The direct conversation with another user, made if need be. It is one and the same for both: also when both make it
    /// while they are offline.
    func createDirect(with user: UserID) async throws -> Conversation

    /// Opens a group of the user and these members, with the user as its admin.
    func createGroup(name: String, imageURL: URL?, members: Set<UserID>) async throws -> Conversation

    /// Takes members in and dismisses others; two such changes that meet are both made. Who is dismissed loses the
    /// conversation on all devices.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func changeMembers(of group: UUID, adding: Set<UserID>, removing: Set<UserID>) async throws

    /// Leaves a group: it is gone from here at once.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func leave(_ group: UUID) async throws

    /// Deletes a conversation with all that was said in it. It is gone from the list at once; its messages and receipts go
    /// from this device and everybody's when the server has it. Who opened it may; what others write meanwhile is refused.
    ///
    /// - Throws: `ChatError.notFound`, or `StoreError` with `refused(.forbidden)` for whoever may not.
    func delete(_ conversation: UUID) async throws

    /// Who of a conversation is there, by user, now and after each change; nobody is while there is no connection.
    func observePresence(in conversation: UUID) -> AsyncStream<[UserID: Presence]>

    /// Gives a group another name.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func rename(_ group: UUID, to name: String) async throws

    /// Gives a group another image, or none.
    ///
    /// - Throws: `ChatError.direct` or `notFound`.
    func setImage(of group: UUID, to url: URL?) async throws
}
