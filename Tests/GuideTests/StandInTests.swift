import Foundation
import Testing
import Tidemark
import TidemarkChat

/// A messenger made of values, using only the modules' public API.
private struct PaintedMessages: MessageRepository {
    let room: UUID

    private var message: Message {
        Message(
            id: UUID(), conversationID: room, senderID: UserID("bob"), text: "hi", sentAt: .distantPast,
            createdAt: .distantPast, serverID: 7, sending: PendingWrite(writtenAt: .distantPast),
            deliveredTo: [Receipt(user: UserID("ann"), at: nil)])
    }
    private var hit: MessageHit {
        MessageHit(
            message: message,
            snippet: SearchSnippet(pieces: [.init(text: "h", isMatch: true), .init(text: "i", isMatch: false)]))
    }

    func observe(_ conversation: UUID, newest limit: Int) -> LiveValues<[Message]> { LiveValues([[], [message]]) }
    func newestPage(of conversation: UUID, limit: Int) async throws -> [Message] { [message] }
    func page(of conversation: UUID, before date: Date, limit: Int) async throws -> [Message] { [] }
    func page(before message: Message, limit: Int) async throws -> [Message] { [] }
    func search(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) async throws -> [MessageHit] { [hit] }
    func observeSearch(
        _ text: String, in conversation: UUID?, order: MessageSearchOrder, limit: Int
    ) -> LiveValues<[MessageHit]> { LiveValues([[hit]]) }
    func send(_ text: String, to conversation: UUID, attachment: MessageAttachment?) async throws -> Message { message }
    func send(
        _ text: String, to conversation: UUID, attachment: MessageAttachment, bytes: Data
    ) async throws -> Message { message }
    func bytes(of attachment: MessageAttachment, in conversation: UUID) async throws -> Data {
        throw BlobError(.offline, "no network")
    }
    func status(of attachment: MessageAttachment, in conversation: UUID) -> LiveValues<BlobStatus> {
        LiveValues([.waiting, .held])
    }
    func retry(_ attachment: MessageAttachment, in conversation: UUID) async throws {}
    func retry(_ message: UUID) async throws { throw ChatError.notFailed }
    func discard(_ message: UUID) async throws { throw StoreError(Rejection(.notFound, "no such message")) }
    func markRead(_ messages: [Message]) async throws {}
    func noteSeen(_ message: Message) {}
    func markAllRead(in conversation: UUID) async throws {}
    func markDelivered(_ messages: [Message]) async throws {}
}

private struct PaintedConversations: ConversationRepository {
    private var conversation: Conversation {
        Conversation(
            id: UUID(), kind: .direct,
            participants: [
                Participant(id: UserID("ann"), displayName: "Ann"), Participant(id: UserID("bob"), displayName: "Bob"),
            ],
            creator: UserID("bob"),
            lastMessage: MessageSummary(id: UUID(), senderID: UserID("bob"), text: "hi", sentAt: .distantPast),
            createdAt: .distantPast)
    }

    func observe(newest limit: Int) -> LiveValues<[Conversation]> { LiveValues([[conversation]]) }
    func observe(id: UUID) -> LiveValues<Conversation?> { LiveValues([conversation, nil]) }
    func read(_ id: UUID) async throws -> Conversation? { conversation }
    func createDirect(with user: UserID) async throws -> Conversation { conversation }
    func createGroup(name: String, imageURL: URL?, members: Set<UserID>) async throws -> Conversation { conversation }
    func changeMembers(of group: UUID, adding: Set<UserID>, removing: Set<UserID>) async throws {}
    func leave(_ group: UUID) async throws {}
    func delete(_ conversation: UUID) async throws {}
    func observePresence(in conversation: UUID) -> AsyncStream<[UserID: Presence]> {
        AsyncStream { $0.yield([UserID("bob"): .online]) }
    }
    func rename(_ group: UUID, to name: String) async throws {}
    func setImage(of group: UUID, to url: URL?) async throws {}
}

private struct PaintedUsers: UserRepository {
    private var user: User { User(id: UserID("ann"), displayName: "Ann", createdAt: .distantPast) }

    func observe() -> LiveValues<[User]> { LiveValues([[user]]) }
    func observe(_ user: UserID) -> LiveValues<User?> { LiveValues([self.user]) }
    func read(_ user: UserID) async throws -> User? { self.user }
    func observePresence(_ user: UserID) -> PresenceUpdates { PresenceUpdates(LiveValues([.unknown, .online])) }
    func updatePresence(_ isPresent: Bool) {}
    func updateProfile(_ change: @escaping @Sendable (inout Profile) -> Void) async throws {}
}

@Suite(.timeLimit(.minutes(5))) struct StandInTests {
    @Test func `a screen of a messenger works with stand-ins for its repositories`() async throws {
        let (messages, room) = (PaintedMessages(room: UUID()) as any MessageRepository, UUID())
        var pages: [[MessageStatus]] = []
        for try await page in messages.observe(room, newest: 50) { pages.append(page.map(\.status)) }
        #expect(pages == [[], [.delivered]])
        #expect(try await messages.search("h", in: nil, order: .relevance, limit: 1).first?.snippet.text == "hi")
        let picture = MessageAttachment(.image, bytes: Data(), contentType: "image/png")
        let error = await #expect(throws: BlobError.self) { try await messages.bytes(of: picture, in: room) }
        #expect(error?.code == .offline)
        var statuses: [BlobStatus] = []
        for try await status in messages.status(of: picture, in: room) { statuses.append(status) }
        #expect(statuses == [.waiting, .held])
        for try await list in PaintedConversations().observe(newest: 9) {
            #expect(list.map { $0.title(for: UserID("ann")) } == ["Bob"])
        }
        var presences: [Presence] = []
        for try await presence in PaintedUsers().observePresence(UserID("ann")) { presences.append(presence) }
        #expect(presences == [.unknown, .online])
    }

    @Test func `a receipt and a status of a stand-in return the given values`() async throws {
        let todo = Todo(listId: UUID(), title: "Milk")
        var steps: [WriteStep] = []
        let receipt = try await PaintedTodos().add(todo)
        for try await step in receipt.steps { steps.append(step) }
        #expect(steps == [.queued, .rejected(Rejection(.quota, "the list is full"))] && receipt.id == todo.id)
        let refused = await #expect(throws: StoreError.self) {
            try await PaintedTodos().add(Todo(listId: todo.listId, title: ""))
        }
        #expect(refused?.code == .rejected(.invalid))
        var pages: [[String]] = []
        for try await page in PaintedTodos().open(in: todo.listId) { pages.append(page.map(\.title)) }
        #expect(pages == [[], ["Buy milk"]])
        var status = SyncStatus(connection: .live, lastSync: .distantPast)
        status.pending = 2
        status.filled = SyncProgress(done: 1, total: 2)
        #expect(status.filled.fraction == 0.5 && status.pending == 2)
        #expect(CollectionStatus(filled: SyncProgress(done: 1, total: 4)).filled.fraction == 0.25)
    }
}
