import Foundation
import Logging
import Tidemark
import TidemarkChat
import TidemarkNIOTransport

/// One device of one user, with a database in memory.
struct Messenger: Sendable {
    let chat: Chat
    let user: UserID

    init(_ user: String, limits: ChatLimits = ChatLimits()) throws {
        self.init(try .inMemory(account: UserID(user), schema: try ChatSchema.schema()), limits: limits)
    }

    init(_ store: SyncStore, limits: ChatLimits = ChatLimits()) {
        user = store.account
        chat = Chat(store, limits: limits)
    }

    /// Connects to the server until `disconnect`.
    func connect(_ server: TestServer) throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let token = try server.token(user.text)
        try chat.store.connect(to: "http://127.0.0.1:\(server.port)", transport: NIOTransport(), logger: logger) {
            token
        }
    }

    func disconnect() async { await chat.store.disconnect() }

    /// Waits until nothing is left to be sent.
    func settled() async throws { _ = try await chat.store.outbox.pendingCount.first { $0 == 0 } }

    /// The conversation's messages once they are as expected.
    @discardableResult
    func messages(
        _ conversation: UUID, once isExpected: @escaping @Sendable ([Message]) -> Bool
    ) async throws -> [Message] {
        try await chat.messages.observe(conversation, newest: 100).first(where: isExpected)
    }

    /// The conversations once they are as expected.
    @discardableResult
    func conversations(once isExpected: @escaping @Sendable ([Conversation]) -> Bool) async throws -> [Conversation] {
        try await chat.conversations.observe(newest: 100).first(where: isExpected)
    }
}

extension LiveValues {
    /// The first matching value; the suite's time limit ends the wait.
    func first(where fits: @escaping @Sendable (Element) -> Bool) async throws -> Element {
        for try await value in self where fits(value) { return value }
        throw CancellationError()
    }
}
