import Foundation
import Tidemark
import TidemarkChat
import TidemarkTestKit

/// Ann's chat after Bob has written to her, for previews.
struct PreviewChat: Sendable {
    /// The kit; it must live as long as its clients' stores are used.
    let kit: TestKit
    let chat: Chat
    let conversation: Conversation

    static func make() async throws -> PreviewChat {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let (chat, other) = (Chat(ann.store), Chat(bob.store))
        let room = try await other.conversations.createGroup(name: "The trip", imageURL: nil, members: [ann.account])
        for text in ["Shall we go?", "The train leaves at six."] {
            _ = try await other.messages.send(text, to: room.id)
        }
        try await kit.settle()
        _ = try await chat.messages.send("Yes, at six.", to: room.id)
        try await kit.settle()
        ann.goOffline()
        _ = try await chat.messages.send("Written in a tunnel.", to: room.id)
        return PreviewChat(kit: kit, chat: chat, conversation: room)
    }
}
