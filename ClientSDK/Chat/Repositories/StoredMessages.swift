import Foundation
import Tidemark
import TidemarkLock

/// The messages in a store.
final class StoredMessages: MessageRepository {
    private let store: SyncStore
    private let limits: ChatLimits
    /// The last assigned `sentAt`: two messages of one device never have the same.
    private let lastSent = Lock<Milliseconds>(0)

    private let seen: SeenMarks

    init(_ store: SyncStore, _ seen: SeenMarks, _ limits: ChatLimits) {
        self.store = store
        self.seen = seen
        self.limits = limits
    }

    // MARK: Reading

    func observe(_ conversation: UUID, newest limit: Int) -> LiveValues<[Message]> {
        store.observe { [now = store.environment.now] snapshot in
            try MessagePage(conversation, limit: limit, now: now()).read(snapshot)
        }
    }

    func newestPage(of conversation: UUID, limit: Int) async throws -> [Message] {
        let page = MessagePage(conversation, limit: limit, now: store.environment.now())
        return try await store.read { try page.read($0) }
    }

    func page(of conversation: UUID, before date: Date, limit: Int) async throws -> [Message] {
        let page = MessagePage(conversation, before: .moment(date), limit: limit, now: store.environment.now())
        return try await self.page(page, of: conversation, limit)
    }

    func page(before message: Message, limit: Int) async throws -> [Message] {
        let end = MessagePage.End.message(message.id, sentAt: message.sentAt, created: message.createdAt)
        let page = MessagePage(message.conversationID, before: end, limit: limit, now: store.environment.now())
        return try await self.page(page, of: message.conversationID, limit)
    }

    /// Reads a page. If it is not full, it requests messages that were evicted or not fetched, for a later page.
    private func page(_ page: MessagePage, of conversation: UUID, _ limit: Int) async throws -> [Message] {
        let messages = try await store.read { try page.read($0) }
        if messages.count < limit {
            let scope = ScopeID(record: conversation)
            try await store.repository(MessageRecord.self).loadOlder(in: scope, count: limit)
        }
        return messages
    }

    func search(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) async throws -> [MessageHit] {
        let search = MessageSearch(text: text, conversation: conversation, order: order, limit: limit)
        return try await store.read { [now = store.environment.now()] in try search.read($0, now: now) }
    }

    func observeSearch(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) -> LiveValues<[MessageHit]> {
        let search = MessageSearch(text: text, conversation: conversation, order: order, limit: limit)
        return store.observe { [now = store.environment.now] in try search.read($0, now: now()) }
    }

    // MARK: Sending

    func send(_ text: String, to conversation: UUID, attachment: MessageAttachment?) async throws -> Message {
        try await send(text, to: conversation, attachment, bytes: nil)
    }

    func send(
        _ text: String, to conversation: UUID, attachment: MessageAttachment, bytes: Data
    ) async throws -> Message {
        guard attachment.matches(bytes) else { throw ChatError.otherBytes }
        return try await send(text, to: conversation, attachment, bytes: bytes)
    }

    private func send(
        _ text: String, to conversation: UUID, _ attachment: MessageAttachment?, bytes: Data?
    ) async throws -> Message {
        let account = store.account
        let now = store.environment.now()
        let (name, newest) = try await store.read { snapshot in
            let profile = try snapshot.read(UserRecord.self, ChatID.profile(of: account))
            return (profile?.displayName, try MessagePage.newestTime(in: conversation, now: now, snapshot))
        }
        let record = MessageRecord(
            id: UUID(store.environment.newID()), conversationId: conversation, text: text, senderName: name,
            sentAt: Date(timeIntervalSince1970: Double(nextTime(now, after: newest)) / 1_000),
            kind: attachment?.kind.rawValue, attachment: attachment.map { AttachmentField($0) })
        try await store.write { batch in
            if let bytes { batch.addBlob(bytes, in: .of(conversation)) }
            batch.create(record)
        }
        return Message(record, account: account)
    }

    // MARK: Bytes

    func bytes(of attachment: MessageAttachment, in conversation: UUID) async throws -> Data {
        try await store.blobs.read(try digest(attachment), in: .of(conversation))
    }

    func status(of attachment: MessageAttachment, in conversation: UUID) -> LiveValues<BlobStatus> {
        guard let digest = attachment.blob else {
            return LiveValues(from: {
                AsyncThrowingStream { continuation in
                    continuation.yield(.absent)
                    continuation.finish()
                }
            })
        }
        return store.blobs.status(of: digest, in: .of(conversation))
    }

    func retry(_ attachment: MessageAttachment, in conversation: UUID) async throws {
        try await store.blobs.retry(try digest(attachment), in: .of(conversation))
    }

    private func digest(_ attachment: MessageAttachment) throws(ChatError) -> BlobDigest {
        guard let digest = attachment.blob else { throw .noBytes }
        return digest
    }

    /// Returns the device's time, or the time right after the newest message if that is not too far ahead.
    private func nextTime(_ now: Milliseconds, after newest: Milliseconds) -> Milliseconds {
        lastSent.withLock { last in
            let isNear = newest >= now && newest - now < limits.maxClockLead
            let time = max(isNear ? newest + 1 : now, last + 1)
            // A clock that was set back must not push messages into the future forever.
            last = time - now < limits.maxClockLead ? time : now
            return last
        }
    }

    func retry(_ message: UUID) async throws {
        switch try await failure(of: message) {
        case .refused(let transaction): try await transaction.retry()
        case .unanswered: try await withheld(message)?.retry()
        case nil: throw ChatError.notFailed
        }
    }

    func discard(_ message: UUID) async throws {
        switch try await failure(of: message) {
        case .refused(let transaction): try await transaction.discard()
        case .unanswered: try await withheld(message)?.discard()
        case nil: throw ChatError.notFailed
        }
    }

    /// Returns the failed write that created the message.
    private func withheld(_ message: UUID) async throws -> StalledTransaction? {
        let key = RecordKey(collection: MessageRecord.collection, id: UniqueID(message))
        return try await store.outbox.stalled().first { failed in failed.mutations.contains { $0.key == key } }
    }

    private enum Failure: Sendable {
        case refused(RejectedTransaction)
        case unanswered
    }

    private func failure(of message: UUID) async throws -> Failure? {
        try await store.read { snapshot in
            if let refused = try snapshot.rejectedCreations(MessageRecord.self).first(where: { $0.model.id == message })
            {
                return .refused(refused.transaction)
            }
            let pending = try snapshot.pendingWrites(to: [message], of: MessageRecord.collection)
            return pending.values.contains { $0.isStalled } ? .unanswered : nil
        }
    }

    // MARK: Receipts

    func markRead(_ messages: [Message]) async throws { try await mark(.read, messages) }

    func markDelivered(_ messages: [Message]) async throws { try await mark(.delivered, messages) }

    func noteSeen(_ message: Message) {
        guard message.senderID != store.account, let number = message.serverID else { return }
        seen.note(number, in: message.conversationID)
    }

    func markAllRead(in conversation: UUID) async throws {
        let sql = "SELECT max(server_id) AS newest FROM messages WHERE scope = ? AND author <> ?"
        let arguments: [FieldValue] = [.id(conversation), .string(store.account.text)]
        let row = try await store.read { try $0.rows(sql, arguments).first }
        guard case .integer(let newest)? = row?["newest"] else { return }
        try await ReceiptWriter(store, limits).write(.read, [conversation: newest])
    }

    private func mark(_ kind: ReceiptKind, _ messages: [Message]) async throws {
        var marks: [UUID: Int64] = [:]
        for message in messages where message.senderID != store.account {
            guard let number = message.serverID else { continue }
            marks[message.conversationID] = max(marks[message.conversationID] ?? 0, number)
        }
        try await ReceiptWriter(store, limits).write(kind, marks)
    }
}
