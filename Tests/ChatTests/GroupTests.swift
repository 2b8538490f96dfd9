import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

/// A group as its members see it, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct GroupTests {
    private func kit() async throws -> (kit: TestKit, ann: Chat, bob: Chat) {
        let kit = try TestKit(schema: try ChatSchema.schema())
        return (kit, Chat(try await kit.client("ann").store), Chat(try await kit.client("bob").store))
    }

    @Test func `a watcher of one conversation sees its name, its image and its newest message change`() async throws {
        let (kit, ann, bob) = try await kit()
        let group = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        var seen = bob.conversations.observe(id: group).makeAsyncIterator()
        #expect(try await seen.next() == .some(nil))
        let image = try #require(URL(string: "https://images.example.com/g.png"))
        try await ann.conversations.setImage(of: group, to: image)
        try await ann.conversations.rename(group, to: "the shop")
        try await ann.messages.send("hello", to: group)
        try await kit.settle()
        var last: Conversation?
        while last?.lastMessage?.text != "hello" || last?.name != "the shop", let next = try await seen.next() {
            last = next
        }
        #expect(last?.imageURL == image && last?.creator == UserID("ann"))
        try await ann.conversations.setImage(of: group, to: nil)
        try await kit.settle()
        #expect(try await bob.conversations.read(group)?.imageURL == nil)
        try kit.expectConverged()
    }

    @Test func `an added member appears with the name of their profile`() async throws {
        let (kit, ann, bob) = try await kit()
        let cem = Chat(try await kit.client("cem").store)
        try await cem.users.updateProfile { $0.displayName = "Cem the Third" }
        try await kit.settle()
        let group = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        try await ann.conversations.changeMembers(of: group, adding: [UserID("cem")], removing: [])
        try await kit.settle()
        let listed = try #require(try await bob.conversations.read(group))
        #expect(listed.participants.first { $0.id == UserID("cem") }?.displayName == "Cem the Third")
        // The conversation has it as well, for members who cannot see the profile.
        let row = try await bob.store.read { try $0.rows("SELECT participantNames AS names FROM conversations", []) }
            .first
        guard case .string(let names)? = row?["names"] else {
            Issue.record("no names")
            return
        }
        #expect(names.contains("Cem the Third"))
        await #expect(throws: ChatError.notFound) { try await ann.conversations.rename(UUID(), to: "x") }
    }

    @Test func `the last member to leave ends the group, whoever created it`() async throws {
        let (kit, ann, bob) = try await kit()
        let group = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        try await kit.settle()
        try await ann.conversations.leave(group)
        try await kit.settle()
        try await bob.conversations.leave(group)
        try await kit.settle()
        #expect(try await bob.conversations.read(group) == nil)
        #expect(try await bob.store.outbox.rejected().isEmpty)
        try kit.expectConverged()
    }

    @Test func `a discarded refused message is deleted for good, and a search follows new messages`() async throws {
        let (kit, ann, bob) = try await kit()
        let group = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        try await ann.messages.send("the battery came", to: group)
        try await kit.settle()
        var hits = bob.messages.observeSearch("batt", in: group, order: .newestFirst, limit: 9).makeAsyncIterator()
        let first = try #require(try await hits.next()?.first)
        #expect(first.id == first.message.id && first.message.text == "the battery came")
        try await bob.messages.send("which battery?", to: group)
        #expect(try await hits.next()?.map(\.message.text) == ["which battery?", "the battery came"])
        try await kit.settle()

        kit.clients[1].goOffline()
        let late = try await bob.messages.send("too late", to: group)
        try await kit.faults.revoke(UserID("bob"), from: ScopeID(record: group))
        kit.clients[1].goOnline()
        try await kit.settle()
        #expect(try await bob.store.outbox.rejected().count == 1)
        try await bob.messages.discard(late.id)
        #expect(try await bob.store.outbox.rejected().isEmpty)
        await #expect(throws: ChatError.notFailed) { try await bob.messages.discard(late.id) }
    }
}
