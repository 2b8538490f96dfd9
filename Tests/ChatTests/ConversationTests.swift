import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct ConversationTests {
    @Test func `a direct conversation that both open offline is one, with all messages of both`() async throws {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            let room = try await ann.chat.conversations.createDirect(with: bob.user)
            let same = try await bob.chat.conversations.createDirect(with: ann.user)
            #expect(room.id == same.id)
            #expect(try await ann.chat.conversations.createDirect(with: bob.user).id == room.id)
            try await ann.chat.messages.send("from ann", to: room.id)
            try await bob.chat.messages.send("from bob", to: room.id)

            let upkeeps = [ann, bob].map { messenger in Task { try await messenger.chat.run() } }
            try ann.connect(server)
            try await ann.settled()
            try bob.connect(server)
            for messenger in [ann, bob] {
                let messages = try await messenger.messages(room.id) { messages in
                    messages.count == 2 && messages.allSatisfy { $0.serverID != nil }
                }
                #expect(Set(messages.map(\.text)) == ["from ann", "from bob"])
                let list = try await messenger.conversations { $0.count == 1 && $0.first?.syncState == .synced }
                #expect(list.first?.participants.map(\.id) == [ann.user, bob.user])
                #expect(list.first?.creator == ann.user)
                _ = try await messenger.chat.store.observe { try $0.rejected().count }.first { $0 == 0 }
            }
            for upkeep in upkeeps { upkeep.cancel() }
            await ann.disconnect()
            await bob.disconnect()
        }
    }

    @Test func `added members have the history, and a removed or leaving one loses it`() async throws {
        try await TestServer.running { server in
            let (ann, bob, cem) = (try Messenger("ann"), try Messenger("bob"), try Messenger("cem"))
            for messenger in [ann, bob, cem] { try messenger.connect(server) }
            let group = try await ann.chat.conversations.createGroup(name: "g", imageURL: nil, members: [bob.user]).id
            try await ann.chat.messages.send("before", to: group)
            try await bob.messages(group) { $0.count == 1 }
            let listed = try #require(try await bob.chat.conversations.read(group))
            #expect(listed.kind == .group)
            #expect(listed.adminIDs == [ann.user])
            #expect(listed.title(for: bob.user) == "g")

            try await bob.chat.conversations.changeMembers(of: group, adding: [cem.user], removing: [])
            let history = try await cem.messages(group) { $0.count == 1 }
            #expect(history.map(\.text) == ["before"])
            // Messages from before a user was added are not unread for them.
            let joined = try await cem.conversations {
                $0.first?.lastMessage != nil && $0.first?.unread.isExact == true
            }
            #expect(joined.first?.unread == Unread(count: 0, isExact: true))
            try await ann.chat.messages.send("after", to: group)
            try await cem.conversations { $0.first?.unread == Unread(count: 1, isExact: true) }

            try await cem.chat.conversations.leave(group)
            #expect(try await cem.chat.conversations.read(group) == nil)
            try await cem.messages(group) { $0.isEmpty }
            try await ann.chat.conversations.changeMembers(of: group, adding: [], removing: [bob.user])
            try await bob.conversations { $0.isEmpty }
            try await bob.messages(group) { $0.isEmpty }
            let left = try await ann.conversations { $0.first?.participants.count == 1 }
            #expect(left.first?.participants.map(\.id) == [ann.user])
            for messenger in [ann, bob, cem] {
                #expect(try await messenger.chat.store.outbox.rejected().isEmpty)
                await messenger.disconnect()
            }
        }
    }

    @Test func `two concurrent changes of members are both made`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let devices = (ann: try await kit.client("ann"), bob: try await kit.client("bob"))
        let (ann, bob) = (Chat(devices.ann.store), Chat(devices.bob.store))
        let group = try await ann.conversations.createGroup(
            name: "g", imageURL: nil, members: [devices.bob.account]
        ).id
        try await kit.settle()
        devices.bob.goOffline()
        try await bob.conversations.changeMembers(of: group, adding: [UserID("cem")], removing: [])
        try await bob.conversations.rename(group, to: "ours")
        try await ann.conversations.changeMembers(of: group, adding: [UserID("dee")], removing: [])
        try await kit.settle()
        devices.bob.goOnline()
        try await kit.settle()
        for chat in [ann, bob] {
            let merged = try #require(try await chat.conversations.read(group))
            #expect(merged.participants.map(\.id.text) == ["ann", "bob", "cem", "dee"])
            #expect(merged.name == "ours")
        }
        try kit.expectConverged()
    }

    @Test func `a direct conversation cannot be left, renamed or joined, and an unknown one not edited`() async throws {
        let ann = try Messenger("ann")
        let room = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
        await #expect(throws: ChatError.direct) { try await ann.chat.conversations.leave(room) }
        await #expect(throws: ChatError.direct) { try await ann.chat.conversations.rename(room, to: "x") }
        await #expect(throws: ChatError.direct) {
            try await ann.chat.conversations.changeMembers(of: room, adding: [UserID("cem")], removing: [])
        }
        await #expect(throws: ChatError.notFound) { try await ann.chat.conversations.leave(UUID()) }
    }

    @Test func `the list has the newest conversation first, with its last message and the others' names`()
        async throws
    {
        let ann = try Messenger("ann")
        let first = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
        let second = try await ann.chat.conversations.createGroup(name: "g", imageURL: nil, members: []).id
        try await ann.chat.messages.send("a", to: second)
        let last = try await ann.chat.messages.send("b", to: first)
        let list = try await ann.conversations { _ in true }
        #expect(list.map(\.id) == [first, second])
        #expect(list.first?.lastMessage?.id == last.id)
        #expect(list.map(\.lastMessage?.text) == ["b", "a"])
        #expect(list.map { $0.title(for: ann.user) } == ["bob", "g"])
        #expect(list.allSatisfy { $0.unread == Unread(count: 0, isExact: true) })
    }

    @Test(arguments: [1, 2, 3])
    func `a list of any length has the newest, and none that the user has left`(_ limit: Int) async throws {
        let ann = try Messenger("ann")
        var groups: [UUID] = []
        for name in ["oldest", "middle", "left"] {
            let group = try await ann.chat.conversations.createGroup(name: name, imageURL: nil, members: []).id
            try await ann.chat.messages.send("in \(name)", to: group)
            groups.append(group)
        }
        try await ann.chat.conversations.leave(groups[2])
        let list = try await ann.chat.conversations.observe(newest: limit).first { _ in true }
        #expect(list.map(\.id) == Array([groups[1], groups[0]].prefix(limit)))
        #expect(try await ann.chat.conversations.read(groups[2]) == nil)
    }
}
