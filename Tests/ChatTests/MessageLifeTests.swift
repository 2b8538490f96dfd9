import Foundation
import Testing
import Tidemark
import TidemarkChat

@Suite(.timeLimit(.minutes(5))) struct MessageLifeTests {
    @Test func `a message is sending, sent, delivered and read, and both sides have it once and in order`() async throws
    {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            let first = try await ann.chat.messages.send("one", to: room)
            #expect(first.status == .sending)
            #expect(first.serverID == nil)
            try await ann.chat.messages.send("two", to: room)
            let offline = try await ann.chat.messages.newestPage(of: room, limit: 10)
            #expect(offline.map(\.text) == ["one", "two"])
            #expect(offline.allSatisfy { $0.status == .sending && $0.isQueued })

            try ann.connect(server)
            let sent = try await ann.messages(room) { $0.allSatisfy { $0.status == .sent } }
            #expect(sent.map(\.id) == offline.map(\.id))
            #expect(sent.map(\.sentAt) == offline.map(\.sentAt))
            #expect(sent.allSatisfy { $0.serverTime != nil && $0.sending == nil && $0.syncState == .synced })
            #expect(sent.allSatisfy { !$0.isQueued && $0.updatedAt == $0.serverTime && $0.updatedAt != nil })

            try bob.connect(server)
            let upkeep = Task { try await bob.chat.run() }
            let delivered = try await ann.messages(room) { $0.allSatisfy { $0.status == .delivered } }
            #expect(delivered.count == 2)
            #expect(delivered.allSatisfy { $0.deliveredTo.map(\.user) == [bob.user] && $0.readBy.isEmpty })

            let received = try await bob.messages(room) { $0.count == 2 }
            #expect(received.map(\.text) == ["one", "two"])
            #expect(received.map(\.senderID) == [ann.user, ann.user])
            try await bob.chat.messages.markRead(Array(received.prefix(1)))
            let read = try await ann.messages(room) { $0.first?.status == .read }
            #expect(read.map(\.status) == [.read, .delivered])
            #expect(read.first?.readBy.map(\.user) == [bob.user])
            #expect(read.first?.readBy.first?.at != nil)
            upkeep.cancel()
            await ann.disconnect()
            await bob.disconnect()
        }
    }

    @Test func `a refused message stays as failed in its position until it is retried or discarded`() async throws {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            let group = try await ann.chat.conversations.createGroup(name: "g", imageURL: nil, members: [bob.user]).id
            try ann.connect(server)
            try bob.connect(server)
            try await bob.conversations { $0.count == 1 }
            try await bob.settled()
            await bob.disconnect()
            try await ann.chat.conversations.changeMembers(of: group, adding: [], removing: [bob.user])
            try await ann.settled()

            let message = try await bob.chat.messages.send("too late", to: group)
            try bob.connect(server)
            let failed = try await bob.messages(group) { $0.first?.status == .failed }
            #expect(failed.map(\.text) == ["too late"])
            #expect(failed.first?.failure != nil)
            #expect(failed.first?.id == message.id)

            // Once bob is a member again, the retry puts the message in its position for both.
            try await ann.chat.conversations.changeMembers(of: group, adding: [bob.user], removing: [])
            try await bob.conversations { $0.count == 1 }
            try await bob.chat.messages.retry(message.id)
            try await bob.messages(group) { $0.first?.status == .sent }
            let received = try await ann.messages(group) { !$0.isEmpty }
            #expect(received.map(\.id) == [message.id])
            await #expect(throws: ChatError.notFailed) { try await bob.chat.messages.retry(message.id) }
            await ann.disconnect()
            await bob.disconnect()
        }
    }

    /// Makes a message without an answer five times, so that the second one waits behind it.
    private func withheld() async throws -> (ann: Messenger, room: UUID, messages: [Message]) {
        let ann = try Messenger("ann")
        let room = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
        let database = ann.chat.store.database
        let sent = try await [ann.chat.messages.send("one", to: room), ann.chat.messages.send("two", to: room)]
        _ = try database.nextPush(after: 0, maxTransactions: 9, maxBytes: 99_999)
        // The first transaction is the conversation.
        try database.withhold(2, reason: "the server closed the connection")
        return (ann, room, sent)
    }

    @Test func `a message that got no answer too often has failed, in its position and with the reason`() async throws {
        let (ann, room, sent) = try await withheld()
        let page = try await ann.chat.messages.newestPage(of: room, limit: 10)
        #expect(page.map(\.id) == sent.map(\.id))
        #expect(page.map(\.status) == [.failed, .failed])
        #expect(page.allSatisfy { $0.failure == nil && $0.sending?.isStalled == true && $0.syncState == .failed })
        #expect(page.allSatisfy { !$0.isQueued })
        #expect(page.first?.failureReason == "the server closed the connection")
        #expect(page.last?.failureReason == "something written before it got no answer")
        let id = try #require(sent.first?.id)
        #expect(
            try await ann.chat.messages.search("one", in: room, order: .newestFirst, limit: 1).map(\.message.status)
                == [.failed])
        try await ann.chat.messages.discard(id)
        #expect(try await ann.chat.messages.newestPage(of: room, limit: 10).map(\.id) == [sent.last?.id])
    }

    @Test func `a message without an answer is sent again by hand, also before the server answers`() async throws {
        try await TestServer.running { server in
            let (ann, room, sent) = try await withheld()
            let last = try #require(sent.last)
            try await ann.chat.messages.retry(last.id)
            try ann.connect(server)
            let arrived = try await ann.messages(room) { $0.allSatisfy { $0.status == .sent } }
            #expect(arrived.map(\.id) == sent.map(\.id))
            #expect(arrived.allSatisfy { $0.failureReason == nil })
            await #expect(throws: ChatError.notFailed) { try await ann.chat.messages.retry(last.id) }
            await ann.disconnect()
        }
    }

    @Test func `an unsent message exists after a restart, with its state`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-chat-\(UUID().uuidString)")
        defer {
            // The system empties its temporary folder anyway.
            try? FileManager.default.removeItem(at: folder)
        }
        let ann = UserID("ann")
        let room = ChatID.directConversation(ann, UserID("bob"))
        do {
            let chat = try await Chat.open(account: ann, at: folder)
            _ = try await chat.conversations.createDirect(with: UserID("bob"))
            try await chat.messages.send("kept", to: room)
        }
        let chat = try await Chat.open(account: ann, at: folder)
        let kept = try await chat.messages.newestPage(of: room, limit: 5)
        #expect(kept.map(\.text) == ["kept"])
        #expect(kept.map(\.status) == [.sending])
        #expect(kept.first?.senderID == ann)
        #expect(try await chat.conversations.read(room)?.lastMessage?.text == "kept")
    }

    @Test func `pages before a date and before a message omit and repeat nothing`() async throws {
        let ann = try Messenger("ann")
        let room = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
        for number in 1...25 { try await ann.chat.messages.send("\(number)", to: room) }
        let newest = try await ann.chat.messages.newestPage(of: room, limit: 10)
        #expect(newest.map(\.text) == (16...25).map { "\($0)" })
        let oldest = try #require(newest.first)
        let byDate = try await ann.chat.messages.page(of: room, before: oldest.sentAt, limit: 10)
        #expect(byDate.map(\.text) == (6...15).map { "\($0)" })
        let byMessage = try await ann.chat.messages.page(before: oldest, limit: 10)
        #expect(byMessage == byDate)
        let rest = try await ann.chat.messages.page(before: try #require(byMessage.first), limit: 10)
        #expect(rest.map(\.text) == (1...5).map { "\($0)" })
        #expect(try await ann.chat.messages.page(before: try #require(rest.first), limit: 10).isEmpty)
    }

    @Test func `an answer is sorted after the message that it answers although the other clock is fast`() async throws {
        let schema = try ChatSchema.schema()
        let fast = StoreEnvironment(now: { 60_000 }, random: StoreEnvironment.system.random)
        let slow = StoreEnvironment(now: { 1_000 }, random: StoreEnvironment.system.random)
        try await TestServer.running { server in
            let ann = Messenger(try .inMemory(account: UserID("ann"), schema: schema, environment: fast))
            let bob = Messenger(try .inMemory(account: UserID("bob"), schema: schema, environment: slow))
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            try await ann.chat.messages.send("question", to: room)
            try ann.connect(server)
            try bob.connect(server)
            try await bob.messages(room) { $0.count == 1 }
            try await bob.chat.messages.send("answer", to: room)
            let both = try await ann.messages(room) { $0.count == 2 }
            #expect(both.map(\.text) == ["question", "answer"])
            await ann.disconnect()
            await bob.disconnect()
        }
    }
}
