public import Foundation
public import Tidemark

/// The messages of conversations. Lists are in the order of `Message.sentAt`, oldest first, the same on every device; a
/// message that the server refused stands in them at its place.
public protocol MessageRepository: Sendable {
    /// The newest messages of a conversation, now and after each change of them or of who has them.
    func observe(_ conversation: UUID, newest limit: Int) -> LiveValues<[Message]>

    /// The newest messages that are here.
    func newestPage(of conversation: UUID, limit: Int) async throws -> [Message]

    /// The newest messages that were sent before a moment. A page that is not full asks for older ones, which come with a later
    /// page.
    func page(of conversation: UUID, before date: Date, limit: Int) async throws -> [Message]

    /// The messages before another one: leaves none out where several were sent in the same millisecond.
    func page(before message: Message, limit: Int) async throws -> [Message]

    /// Finds messages by what is said in them, without a network; in all conversations when none is named. Words may be in
    /// any case and without accents, and the beginning of a word is enough.
    func search(
        _ text: String, in conversation: UUID?, orderBy order: MessageSearchOrder, limit: Int
    ) async throws -> [MessageHit]

    /// What `search` finds, now and after each change.
    func observeSearch(
        _ text: String, in conversation: UUID?, orderBy order: MessageSearchOrder, limit: Int
    ) -> LiveValues<[MessageHit]>

    /// Writes a message; durable and to be seen when this returns.
    ///
    /// - Parameter attachment: what goes with the text, which may be empty. Its bytes are for a storage of the app's own to
    ///   bring; the other form brings them itself.
    /// - Throws: `StoreError` when the attachment takes more than 8 KiB as JSON.
    @discardableResult
    func send(_ text: String, to conversation: UUID, attachment: MessageAttachment?) async throws -> Message

    /// Writes a message with a picture or a file: both are durable when this returns, and neither without the other. The
    /// message does not wait for its bytes; whoever sees it sooner sees the preview.
    ///
    /// - Throws: `StoreError` when the attachment takes more than 8 KiB as JSON, or the bytes are more than
    ///   `BlobPolicy.bytesMax`; `ChatError.otherBytes` when the attachment was made of others.
    @discardableResult
    func send(
        _ text: String, to conversation: UUID, attachment: MessageAttachment, bytes: Data
    ) async throws -> Message

    /// The bytes of an attachment: from this device when they are here, else from the server. `store.blobs.look(at:in:)`
    /// waits for them as long as somebody looks.
    ///
    /// - Throws: `BlobError` when they cannot be had, `ChatError.noBytes` when the attachment names none.
    func bytes(of attachment: MessageAttachment, in conversation: UUID) async throws -> Data

    /// Where the bytes are, now and after each change: of an own attachment, `waiting`, `held` once it is sent, or `failed`.
    func status(of attachment: MessageAttachment, in conversation: UUID) -> LiveValues<BlobStatus>

    /// Sends the bytes of an own attachment again that the server refused.
    ///
    /// - Throws: `StoreError` with `notFound` when they were not refused.
    func retry(_ attachment: MessageAttachment, in conversation: UUID) async throws

    /// Sends a message again that failed: one that the server refused, or one that came to nothing too often. The latter is sent
    /// with those that wait before it and behind it in its conversation, once the server has said that no earlier sending
    /// arrived. Messages that failed in other conversations stay failed.
    ///
    /// - Throws: `ChatError.notFailed` when it did not fail.
    func retry(_ message: UUID) async throws

    /// Gives up a message that failed: one that the server refused, or one that came to nothing too often. Should the latter
    /// have arrived after all, it comes back from the server.
    ///
    /// - Throws: `ChatError.notFailed` when it did not fail.
    func discard(_ message: UUID) async throws

    /// Tells the others that the user has read these messages, and everything before them; one transaction however many
    /// they are. Own ones and what the server has not numbered count for nothing.
    func markRead(_ messages: [Message]) async throws

    /// Notes that a message is on the screen: cheap enough for every row that scrolls by. `Chat.run` marks what was noted
    /// as read, together, after a pause; without it nothing is written. What is noted in the last moment before the app
    /// ends is noted again when it is shown again.
    func noteSeen(_ message: Message)

    /// Tells the others that the user has read all of the conversation that is here.
    func markAllRead(in conversation: UUID) async throws

    /// Tells the others that this device has these messages, and everything before them. `Chat.run` does so by itself.
    func markDelivered(_ messages: [Message]) async throws
}

extension MessageRepository {
    /// Writes a message of nothing but text.
    @discardableResult
    public func send(_ text: String, to conversation: UUID) async throws -> Message {
        try await send(text, to: conversation, attachment: nil)
    }
}
