import Foundation
import Testing
import Tidemark
import TidemarkTestKit

@testable import TidemarkChat
@testable import TidemarkTerminal

/// One member's clock is a year ahead: no newer messages of others are missed because of it.
@Suite(.timeLimit(.minutes(5))) struct MessageClockTests {
    private static let year: Milliseconds = 365 * 86_400_000
    private let kit: TestKit
    private let (ann, bob): (Chat, Chat)
    private let room: UUID

    init() async throws {
        kit = try TestKit(schema: try ChatSchema.schema())
        ann = Chat(try await kit.client("ann").store)
        bob = Chat(try await kit.client("bob").store)
        room = try await ann.conversations.createDirect(with: UserID("bob")).id
        try await kit.settle()
    }

    /// Writes messages of bob's with a clock that is ahead.
    private func ahead(_ texts: [String], by offset: Milliseconds = year) async throws {
        let now = bob.store.environment.now()
        for (index, text) in texts.enumerated() {
            let sentAt = Date(timeIntervalSince1970: Double(now + offset + Int64(index)) / 1_000)
            let record = MessageRecord(id: UUID(), conversationId: room, text: text, sentAt: sentAt)
            try await bob.store.repository(MessageRecord.self).create(record)
        }
        try await kit.settle()
    }

    private func newest(_ chat: Chat, _ limit: Int) async throws -> [String] {
        try await chat.messages.newestPage(of: room, limit: limit).map(\.text)
    }

    @Test func `newer messages are the last of a window, whatever time an older one claims`() async throws {
        for text in ["a", "b", "c"] {
            try await ahead([text])
            await kit.advance(by: .seconds(1))
        }
        _ = try await ann.messages.send("after", to: room)
        try await kit.settle()
        for chat in [ann, bob] {
            #expect(try await newest(chat, 1) == ["after"])
            #expect(try await newest(chat, 3) == ["b", "c", "after"])
            #expect(try await newest(chat, 9) == ["a", "b", "c", "after"])
        }
    }

    @Test func `a message that is written after it does not inherit the wrong time`() async throws {
        try await ahead(["a"])
        let sent = try await ann.messages.send("after", to: room)
        #expect(sent.sentAt.timeIntervalSince1970 * 1_000 < Double(ann.store.environment.now() + 86_400_000))
    }

    @Test func `an answer follows the message that it answers, whatever time another message claims`() async throws {
        try await ahead(["a year ahead"])
        try await ahead(["soon"], by: 60_000)
        _ = try await ann.messages.send("answer", to: room)
        try await kit.settle()
        #expect(try await newest(ann, 2) == ["soon", "answer"])
    }

    @Test func `pages before a message contain each message once`() async throws {
        _ = try await ann.messages.send("1", to: room)
        try await kit.settle()
        for text in ["2", "3"] {
            try await ahead([text])
            await kit.advance(by: .seconds(1))
        }
        _ = try await ann.messages.send("4", to: room)
        try await kit.settle()
        var found: [String] = []
        var page = try await ann.messages.newestPage(of: room, limit: 1)
        while let first = page.first {
            found.insert(first.text, at: 0)
            page = try await ann.messages.page(before: first, limit: 1)
        }
        #expect(found == ["1", "2", "3", "4"])
    }

    @Test func `a clock that is off by less than a day, or behind, is believed`() async throws {
        _ = try await ann.messages.send("now", to: room)
        try await kit.settle()
        try await ahead(["soon"], by: 3_600_000)
        try await ahead(["long ago"], by: -Self.year)
        #expect(try await newest(ann, 9) == ["long ago", "now", "soon"])
    }

    @Test func `the list of conversations uses the server's time, and shows the message that was written last`()
        async throws
    {
        try await ahead(["a year ahead"])
        await kit.advance(by: .seconds(1))
        let other = try await ann.conversations.createDirect(with: UserID("cem")).id
        _ = try await ann.messages.send("elsewhere", to: other)
        try await kit.settle()
        for chat in [ann, bob] {
            let last = try await chat.conversations.read(room)?.lastMessage
            #expect(last?.text == "a year ahead")
        }
        // All of them, and the newest alone.
        for limit in [9, 1] {
            var list: [Conversation] = []
            for try await conversations in ann.conversations.observe(newest: limit) {
                list = conversations
                break
            }
            #expect(list.map(\.id) == Array([other, room].prefix(limit)))
        }
        _ = try await ann.messages.send("after", to: room)
        try await kit.settle()
        for chat in [ann, bob] {
            #expect(try await chat.conversations.read(room)?.lastMessage?.text == "after")
        }
    }

    @Test func `a search by recency has newer messages first, whatever time an older one claims`() async throws {
        for text in ["tide a", "tide b"] {
            try await ahead([text])
            await kit.advance(by: .seconds(1))
        }
        _ = try await ann.messages.send("tide after", to: room)
        try await kit.settle()
        let expected = ["tide after", "tide b", "tide a"]
        for chat in [ann, bob] {
            for conversation in [room, nil] {
                for limit in [1, 2, 9] {
                    let hits = try await chat.messages.search(
                        "tide", in: conversation, order: .newestFirst, limit: limit)
                    #expect(hits.map(\.message.text) == Array(expected.prefix(limit)))
                }
            }
        }
    }

    @Test func `the terminal shows the server's time, and also the clock's`() async throws {
        try await ahead(["hello"])
        let zone = try #require(TimeZone(identifier: "UTC"))
        let message = try #require(try await ann.messages.newestPage(of: room, limit: 1).first)
        #expect(message.isClockAhead)
        let names = MemberNames([UserID("bob"): "Bob"], account: UserID("ann"))
        let line = ChatLine(message, account: UserID("ann"), names, in: zone)
        let (claimed, said) = (ChatLine.clock(message.sentAt, in: zone), ChatLine.clock(message.createdAt, in: zone))
        #expect(line.day == said.day && line.time == said.time && said.day != claimed.day)
        #expect(line.text == "hello [by its sender's clock: \(claimed.day) \(claimed.time)]")
    }
}
