import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// The terminal's answers to instructions, in words.
@Suite(.timeLimit(.minutes(5))) struct AnswerTests {
    @Test func `a retry says which messages are sent again, and when`() {
        func said(_ messages: Int, _ files: Int, isOnline: Bool) -> String {
            ChatRoom.retried(messages: messages, files: files, isOnline: isOnline)
        }
        #expect(said(0, 0, isOnline: true) == "Nothing was refused; what waits is sent by itself.")
        #expect(
            said(1, 0, isOnline: true)
                == "Sending 1 message again: ✓ when the server takes it, ✗ and the reason when not.")
        #expect(
            said(2, 1, isOnline: false)
                == "2 messages and 1 file will be sent again as soon as the server can be reached.")
    }

    @Test func `matches are listed one below the other, oldest first, marked and counted`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let ann = try await kit.client("ann")
        let chat = Chat(ann.store)
        let conversation = try await chat.conversations.createDirect(with: UserID("bob")).id
        for text in ["which battery?", "a screen", "the battery came"] {
            await kit.advance(by: .seconds(60))
            try await chat.messages.send(text, to: conversation)
        }
        let room = ChatRoom(chat: chat, conversation: conversation, zone: .gmt)
        let lines = try await MessageSearch.lines("battery", in: room)
        let day = "2025-10-09"
        #expect(
            lines == [
                "  \(day) 08:54 me: which *battery*?", "  \(day) 08:56 me: the *battery* came",
                "2 messages on this device with \"battery\".",
            ])
        #expect(try await MessageSearch.lines("screen", in: room).last == "1 message on this device with \"screen\".")
        #expect(try await MessageSearch.lines("tide", in: room) == ["No message on this device contains \"tide\"."])
    }

    @Test func `a number is followed by its noun in the right form`() {
        #expect([0, 1, 2].map { $0.counted("message") } == ["0 messages", "1 message", "2 messages"])
    }
}
