public import Foundation
public import Tidemark

/// The messages of conversations. Lists are in the order of `Message.sentAt`, oldest first, the same on every device; a
/// message that the server refused keeps its position in them.
public protocol MessageRepository: Sendable {
    /// Observes the newest messages of a conversation: now and after each change of them or of their receipts.
    func observe(_ conversation: UUID, newest limit: Int) -> LiveValues<[Message]>

    /// Returns the newest messages on this device.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func newestPage(of conversation: UUID, limit: Int) async throws -> [Message]

    /// Returns the newest messages that were sent before a time. A page that is not full requests older messages, which
    /// arrive for a later page.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func page(of conversation: UUID, before date: Date, limit: Int) async throws -> [Message]

    /// Returns the messages before another one: it skips none when several were sent in the same millisecond.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func page(before message: Message, limit: Int) async throws -> [Message]

    /// Finds messages by their text, without a network; in all conversations when none is named. Words match in any
    /// case and without accents, and the beginning of a word is enough.
    ///
    /// - Throws: `StoreError` when the file cannot be read.
    func search(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) async throws -> [MessageHit]

    /// Observes the result of `search`: now and after each change.
    func observeSearch(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) -> LiveValues<[MessageHit]>

    /// Writes a message; it is durable and visible when this returns.
    ///
    /// - Parameter attachment: an attachment besides the text, which may be empty. Its bytes are in a storage of the
    ///   app's own; the other form sends them, too.
    /// - Throws: `StoreError` when the attachment is larger than 8 KiB as JSON.
    @discardableResult
    func send(_ text: String, to conversation: UUID, attachment: MessageAttachment?) async throws -> Message

    /// Writes a message with a picture or a file: both are durable when this returns, or neither is. The message does
    /// not wait for its bytes; users who see it earlier see the preview.
    ///
    /// - Throws: `StoreError` when the attachment is larger than 8 KiB as JSON, or the bytes are more than
    ///   `BlobPolicy.maxBytes`; `ChatError.otherBytes` when the attachment was made from other bytes.
    @discardableResult
    func send(
        _ text: String, to conversation: UUID, attachment: MessageAttachment, bytes: Data
    ) async throws -> Message

    /// Returns the bytes of an attachment: from this device, or else from the server. `store.blobs.observe(_:in:)` waits
    /// for them for as long as the app iterates.
    ///
    /// - Throws: `BlobError` when they are not available, `ChatError.noBytes` when the attachment does not refer to
    ///   any.
    func bytes(of attachment: MessageAttachment, in conversation: UUID) async throws -> Data

    /// Observes the state of the bytes: now and after each change. For an own attachment it is `waiting`, `held` once
    /// it is sent, or `failed`.
    func status(of attachment: MessageAttachment, in conversation: UUID) -> LiveValues<BlobStatus>

    /// Sends the bytes of an own attachment again that the server refused.
    ///
    /// - Throws: `StoreError` with `notFound` when they were not refused.
    func retry(_ attachment: MessageAttachment, in conversation: UUID) async throws

    /// Sends a failed message again: one that the server refused, or one that was sent too often in vain. The latter is
    /// sent with those that wait before and after it in its conversation, after the server has said that no earlier
    /// attempt arrived. Messages that failed in other conversations stay failed.
    ///
    /// - Throws: `ChatError.notFailed` when it has not failed.
    func retry(_ message: UUID) async throws

    /// Discards a failed message: one that the server refused, or one that was sent too often in vain. If the latter
    /// has arrived after all, it comes back from the server.
    ///
    /// - Throws: `ChatError.notFailed` when it has not failed.
    func discard(_ message: UUID) async throws

    /// Notifies the others that the user has read these messages and all before them; one transaction for any number.
    /// Own messages, and those without a server number, are ignored.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    func markRead(_ messages: [Message]) async throws

    /// Notes that a message is on the screen; it is cheap enough for every row that scrolls by. `Chat.run` marks the
    /// noted messages as read, together, after a pause; without it nothing is written. Messages noted in the last
    /// moment before the app ends are noted again when they are shown again.
    func noteSeen(_ message: Message)

    /// Notifies the others that the user has read everything of the conversation that is on this device.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    func markAllRead(in conversation: UUID) async throws

    /// Notifies the others that this device has these messages and all before them. `Chat.run` does so automatically.
    ///
    /// - Throws: as `SyncStore.write(_:)` does.
    func markDelivered(_ messages: [Message]) async throws
}

extension MessageRepository {
    /// Writes a message of text only.
    @discardableResult
    public func send(_ text: String, to conversation: UUID) async throws -> Message {
        try await send(text, to: conversation, attachment: nil)
    }
}
