public import Foundation
public import Tidemark

/// A messenger on a store.
///
///     let chat = try await Chat.open(account: UserID("ann"), at: folder)
///     try chat.store.connect(to: url, transport: URLSessionTransport()) { token }
///     let conversation = try await chat.conversations.createDirect(with: UserID("bob"))
///     try await chat.messages.send("hi", to: conversation.id)
///     try await chat.run()  // as long as the user is signed in
public struct Chat: Sendable {
    /// The store of the account, with its connection and its outbox.
    public let store: SyncStore
    /// The messages of the conversations.
    public let messages: any MessageRepository
    /// The conversations in which the user takes part.
    public let conversations: any ConversationRepository
    /// The users with a profile, and the user's own profile.
    public let users: any UserRepository
    /// The presence of other users.
    public let presence: UserPresence
    /// The typing indicators.
    public let typing: Typing
    let limits: ChatLimits
    let seen = SeenMarks()

    /// - Parameter store: a store opened with `ChatSchema.schema()`, or with a schema that includes it.
    public init(_ store: SyncStore, limits: ChatLimits = ChatLimits()) {
        self.store = store
        self.limits = limits
        messages = StoredMessages(store, seen, limits)
        conversations = StoredConversations(store, limits)
        users = StoredUsers(store)
        typing = Typing(store, limits)
        presence = UserPresence(store)
    }

    /// The models of the records, for `SyncStore.open`.
    public static let models: [any SyncModel.Type] = [
        ConversationRecord.self, MessageRecord.self, ReceiptRecord.self, UserRecord.self,
    ]

    /// Opens the account's database in a folder, or creates it; it needs no network.
    ///
    /// - Throws: as `SyncStore.open` does.
    @concurrent public static func open(
        account: UserID, at folder: URL, cache: CachePolicy = CachePolicy(), limits: ChatLimits = ChatLimits()
    ) async throws -> Chat {
        let schema = try ChatSchema.schema()
        let store = try await SyncStore.open(
            account: account, at: folder, schema: schema, models: models, cache: cache)
        return Chat(store, limits: limits)
    }
}
