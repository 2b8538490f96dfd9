import Foundation
import Logging
import Tidemark
import TidemarkLock

/// One device of the demo: an account with a SQLite file of its own, on and off the network.
final class DemoDevice: Sendable {
    let index: Int
    let user: String
    let store: SyncStore

    private let url: String
    private let transport: any Transport
    private let token: @Sendable () throws -> String
    private let wantsNetwork = Lock(false)

    init(
        index: Int, user: String, store: SyncStore, url: String, transport: any Transport,
        token: @escaping @Sendable () throws -> String
    ) {
        self.index = index
        self.user = user
        self.store = store
        self.url = url
        self.transport = transport
        self.token = token
    }

    // MARK: The network

    /// True when the device is connected and up to date at this moment.
    var isLive: Bool { store.currentStatus.connection == .live }

    var isOnline: Bool { wantsNetwork.withLock { $0 } }

    func goOnline() throws {
        let wasOnline = wantsNetwork.withLock { wants in
            defer { wants = true }
            return wants
        }
        guard !wasOnline else { return }
        var logger = Logger(label: "tidemark.demo") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        try store.connect(to: url, transport: transport, logger: logger) { [token] in try token() }
    }

    func goOffline() async {
        wantsNetwork.withLock { $0 = false }
        await store.disconnect()
    }

    // MARK: Writing

    func open(_ id: LocalID, name: String) async throws {
        let conversation = DemoConversation(id: UUID(id), name: name, participantIds: [user])
        try await store.repository(DemoConversation.self).create(conversation)
    }

    /// Edits the members of a conversation.
    func change(_ id: LocalID, _ change: @escaping @Sendable (inout Set<String>) -> Void) async throws {
        try await store.repository(DemoConversation.self).update(UUID(id)) { change(&$0.participantIds) }
    }

    func say(_ line: Cue.Line, id: LocalID, at time: Milliseconds) async throws {
        let message = DemoMessage(
            id: UUID(id), conversationId: UUID(line.conversation), senderName: line.nick,
            sentAt: time, text: line.text)
        try await store.repository(DemoMessage.self).create(message)
    }

    // MARK: Reading

    func has(_ conversation: LocalID) async throws -> Bool {
        try await store.repository(DemoConversation.self).read(UUID(conversation)) != nil
    }

    /// Returns the number of transactions that are not settled.
    func pending() throws -> Int { try store.database.pendingCount() }

    /// Returns the number of messages of a conversation.
    func messageCount(in conversation: LocalID) async throws -> Int {
        try await store.repository(DemoMessage.self).readAll(in: .of(conversation)).count
    }

    /// Returns everything that the verdict compares.
    func copy() async throws -> DeviceCopy {
        let messages = try await store.repository(DemoMessage.self).readAll()
        let conversations = try await store.repository(DemoConversation.self).readAll()
        return DeviceCopy(
            user: user,
            messages: messages.map { message in
                HeldMessage(
                    id: LocalID(message.id), conversation: LocalID(message.conversationId),
                    author: message.author ?? "", born: message.serverID ?? 0, order: message.sentAt,
                    text: message.text)
            },
            conversations: conversations.reduce(into: [:]) { states, conversation in
                states[LocalID(conversation.id)] = ConversationState(
                    name: conversation.name, members: conversation.participantIds)
            },
            parked: try await store.outbox.rejected().count,
            unsettled: messages.count { $0.syncState != .synced } + conversations.count { $0.syncState != .synced })
    }
}
