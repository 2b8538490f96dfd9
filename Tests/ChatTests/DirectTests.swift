import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

/// A direct conversation belongs to its two members, whatever a third user does.
@Suite(.timeLimit(.minutes(5))) struct DirectTests {
    /// The chat's schema as it was before the server judged ids.
    private static func older() throws -> Schema {
        let text = String(decoding: ChatSchema.document, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { !$0.contains(#""id": {"#) }
        #expect(lines.count == text.split(separator: "\n").count - 3)
        return try Schema(json: Array(lines.joined(separator: "\n").utf8))
    }

    /// Takes the id of ann's and bob's conversation.
    private static func take(_ members: [FieldValue], _ store: SyncStore) async throws {
        let id = ChatID.directConversation(UserID("ann"), UserID("bob"))
        let taken = Mutation(
            key: RecordKey(collection: "conversations", id: UniqueID(id)),
            action: .create(["participantIds": .array(members), "kind": "direct"]))
        try await store.write { $0.apply(taken) }
    }

    @Test func `no other user can create the conversation of two`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let (ann, bob, eve) = (
            try await kit.client("ann"), try await kit.client("bob"), try await kit.client("eve")
        )
        try await Self.take(["ann", "bob", "eve"], eve.store)
        try await kit.settle()
        #expect(try await eve.store.outbox.rejected().map(\.rejection.code) == [.forbidden])
        let room = try await Chat(ann.store).conversations.createDirect(with: bob.account)
        try await Chat(ann.store).messages.send("between us", to: room.id)
        try await kit.settle()
        #expect(room.id == ChatID.directConversation(ann.account, bob.account))
        #expect(try await Chat(bob.store).conversations.createDirect(with: ann.account).id == room.id)
        #expect(try await Chat(bob.store).messages.newestPage(of: room.id, limit: 9).map(\.text) == ["between us"])
        #expect(try await Chat(eve.store).conversations.read(room.id) == nil)
        #expect(try await Chat(eve.store).messages.newestPage(of: room.id, limit: 9).isEmpty)
    }

    @Test(arguments: [["ann", "bob", "eve"], ["ann", "eve"], ["eve"]] as [[FieldValue]])
    func `if the id was taken before, the two have another conversation without the third`(
        _ members: [FieldValue]
    ) async throws {
        let kit = try TestKit(schema: try Self.older())
        let (ann, bob, eve) = (
            try await kit.client("ann"), try await kit.client("bob"), try await kit.client("eve")
        )
        try await Self.take(members, eve.store)
        try await kit.settle()
        for _ in 0..<2 {
            _ = try await Chat(bob.store).conversations.createDirect(with: ann.account)
            try await kit.settle()
        }
        let room = try await Chat(ann.store).conversations.createDirect(with: bob.account)
        try await kit.settle()
        #expect(room.participants.map(\.id) == [ann.account, bob.account])
        #expect(room.kind == .direct)
        #expect(room.id == ChatID.directConversation(ann.account, bob.account, candidate: 1))
        #expect(try await Chat(bob.store).conversations.createDirect(with: ann.account).id == room.id)
        try await Chat(ann.store).messages.send("between us", to: room.id)
        try await kit.settle()
        #expect(try await Chat(bob.store).messages.newestPage(of: room.id, limit: 9).map(\.text) == ["between us"])
        #expect(try await Chat(eve.store).conversations.read(room.id) == nil)
        #expect(try await Chat(eve.store).messages.newestPage(of: room.id, limit: 9).isEmpty)
        let taken = try await Chat(ann.store).conversations.read(ChatID.directConversation(ann.account, bob.account))
        #expect(taken.map(\.kind) != .some(.direct) || members == ["ann", "eve"])
    }

    @Test func `existing conversations of two continue under the newer schema`() async throws {
        let ann = try Messenger("ann")
        let older = try await ann.chat.conversations.createDirect(with: UserID("bob"))
        #expect(try await ann.chat.conversations.createDirect(with: UserID("bob")).id == older.id)
        let alone = try await ann.chat.conversations.createDirect(with: ann.user)
        #expect(alone.participants.map(\.id) == [ann.user])
        #expect(alone.id == ChatID.directConversation(ann.user, ann.user))
    }
}
