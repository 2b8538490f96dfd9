import Foundation
import Testing
import Tidemark
import TidemarkModel
import TidemarkWire

@testable import TidemarkChat

/// Unread counts of a device that holds only a part of a conversation: pages arrive newest first, collection by
/// collection.
@Suite(.timeLimit(.minutes(5))) struct UnreadTests {
    private let bob = UserID("bob")
    private let room = UUID(UniqueID(high: 0xaa, low: 1))
    private var scope: ScopeID { ScopeID(record: room) }

    /// Bob's device, a member since number 10, before any page has arrived.
    private func device() throws -> Messenger {
        let messenger = try Messenger("bob")
        let database = messenger.chat.store.database
        _ = try database.beginConnection()
        try database.welcomed(
            Welcome(
                server: "s", epoch: 1, cursorState: .none, cursor: "c0", kept: [], purged: [],
                added: [.init(scope: scope, since: 10, role: .member)], settledThrough: 0, now: 4_000, tokenExpires: 0,
                heartbeat: 0, limits: WireLimits()))
        return messenger
    }

    private func page(
        _ messenger: Messenger, _ collection: String, _ changes: [Change], next: SequenceNumber? = nil
    ) throws {
        let answer = PageAnswer(
            id: 1, scope: scope, since: 10, collection: collection, changes: changes, next: next)
        try #require(try messenger.chat.store.database.apply(answer))
    }

    private func change(_ key: RecordKey, _ seq: SequenceNumber, by author: String, _ fields: Fields) -> Change {
        Change(
            key: key, scope: scope, seq: seq, born: seq, isDeleted: false, author: UserID(author), created: seq,
            updated: seq, fields: fields)
    }

    private func conversation() -> Change {
        let key = RecordKey(collection: "conversations", id: UniqueID(room))
        return change(key, 10, by: "ann", ["kind": "group", "participantIds": ["ann", "bob"]])
    }

    private func message(_ number: Int64, by author: String = "ann", at time: Int64? = nil) -> Change {
        let key = RecordKey(collection: "messages", id: UniqueID(high: 0xbb, low: UInt64(number)))
        let fields: Fields = [
            "conversationId": .id(room), "text": .string("\(number)"), "sentAt": .integer(time ?? number * 1_000),
        ]
        return change(key, number, by: author, fields)
    }

    private func receipts(of user: String, read: Int64) -> Change {
        let key = RecordKey(collection: "receipts", id: UniqueID(ChatID.receipts(of: UserID(user), in: room)))
        let fields: Fields = [
            "conversationId": .id(room), "readThrough": .integer(read), "readings": [.string("\(read)@77")],
        ]
        return change(key, 200, by: user, fields)
    }

    private func shown(_ messenger: Messenger) async throws -> Conversation {
        try #require(try await messenger.chat.conversations.read(room))
    }

    @Test func `nothing is called unread before the marks of the user's other devices are known`() async throws {
        let messenger = try device()
        try page(messenger, "conversations", [conversation()])
        try page(messenger, "messages", (101...105).reversed().map { message($0) }, next: 101)
        #expect(try await shown(messenger).unread == Unread(count: 0, isExact: false))
        #expect(try await shown(messenger).lastMessage?.text == "105")
        try page(messenger, "receipts", [receipts(of: "bob", read: 103)])
        #expect(try await shown(messenger).unread == Unread(count: 2, isExact: true))
    }

    @Test func `with a part of the history the count is a lower bound until the mark is reached`() async throws {
        let messenger = try device()
        try page(messenger, "conversations", [conversation()])
        try page(messenger, "receipts", [receipts(of: "bob", read: 90), receipts(of: "ann", read: 105)])
        try page(messenger, "messages", (101...105).reversed().map { message($0) }, next: 101)
        #expect(try await shown(messenger).unread == Unread(count: 5, isExact: false))
        try page(messenger, "messages", [message(100, by: "bob"), message(95), message(91), message(90)], next: 90)
        #expect(try await shown(messenger).unread == Unread(count: 7, isExact: true))
        try page(messenger, "messages", (80...89).reversed().map { message($0) })
        #expect(try await shown(messenger).unread == Unread(count: 7, isExact: true))
    }

    @Test func `messages from before the user was added are not unread`() async throws {
        let messenger = try device()
        try page(messenger, "conversations", [conversation()])
        try page(messenger, "receipts", [])
        try page(messenger, "messages", [message(12), message(11), message(9), message(8)])
        #expect(try await shown(messenger).unread == Unread(count: 2, isExact: true))
    }

    @Test func `pages omit nothing if several messages were sent in one millisecond`() async throws {
        let messenger = try device()
        try page(messenger, "messages", (11...15).reversed().map { message($0, at: 7_000) })
        let newest = try await messenger.chat.messages.newestPage(of: room, limit: 2)
        #expect(newest.map(\.text) == ["14", "15"])
        let middle = try await messenger.chat.messages.page(before: try #require(newest.first), limit: 2)
        #expect(middle.map(\.text) == ["12", "13"])
        let oldest = try await messenger.chat.messages.page(before: try #require(middle.first), limit: 2)
        #expect(oldest.map(\.text) == ["11"])
    }

    @Test func `of several messages of one millisecond the list shows the last one of a page`() async throws {
        let messenger = try device()
        try page(messenger, "conversations", [conversation()])
        // They arrived in an order other than that of their ids.
        try page(messenger, "messages", [13, 15, 11, 14].map { message($0, at: 7_000) } + [message(12, at: 6_000)])
        #expect(try await messenger.chat.messages.newestPage(of: room, limit: 2).last?.text == "15")
        #expect(try await shown(messenger).lastMessage?.text == "15")
    }

    @Test func `counting ends at the bound and reports it`() async throws {
        var limits = ChatLimits()
        limits.maxUnread = 3
        let messenger = Messenger(try device().chat.store, limits: limits)
        try page(messenger, "conversations", [conversation()])
        try page(messenger, "receipts", [])
        try page(messenger, "messages", (11...13).reversed().map { message($0) })
        #expect(try await shown(messenger).unread == Unread(count: 3, isExact: true))
        let cursor = Changes(
            from: "c0", cursor: "c1", time: 5_000, isLive: true, isConsistent: true,
            groups: [.init(scope: scope, changes: [message(14)])], settled: nil, grants: [])
        try messenger.chat.store.database.apply(cursor, now: 9_000)
        #expect(try await shown(messenger).unread == Unread(count: 3, isExact: false))
        #expect(try await messenger.conversations { _ in true }.first?.unread == Unread(count: 3, isExact: false))
    }

    @Test func `own messages are not unread, and a message that others have read shows by whom and when`() async throws
    {
        let messenger = try device()
        try page(messenger, "conversations", [conversation()])
        try page(messenger, "messages", [message(21, by: "bob"), message(20, by: "bob")])
        try page(messenger, "receipts", [receipts(of: "ann", read: 20)])
        #expect(try await shown(messenger).unread == Unread(count: 0, isExact: true))
        let messages = try await messenger.chat.messages.newestPage(of: room, limit: 5)
        #expect(messages.map(\.status) == [.read, .sent])
        #expect(messages.first?.readBy == [Receipt(user: UserID("ann"), at: Date(timeIntervalSince1970: 0.077))])
    }
}
