import Foundation
import Testing
import Tidemark
import TidemarkChat

@Suite(.timeLimit(.minutes(5))) struct SearchTests {
    @Test func `others' messages are found offline, with their authors, and the match is marked`() async throws {
        try await TestServer.running { server in
            let (ann, bob) = (try Messenger("ann"), try Messenger("bob"))
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            try await ann.chat.messages.send("the battery is ready", to: room)
            try await ann.chat.messages.send("电池好了", to: room)
            try ann.connect(server)
            try bob.connect(server)
            try await bob.messages(room) { $0.count == 2 }
            await bob.disconnect()

            let hits = try await bob.chat.messages.search("BATT ready", in: nil, order: .relevance, limit: 10)
            #expect(hits.map(\.message.text) == ["the battery is ready"])
            #expect(hits.first?.message.status == .sent)
            #expect(hits.first?.snippet.pieces.filter(\.isMatch).map(\.text) == ["battery", "ready"])
            let chinese = try await bob.chat.messages.search("池好", in: room, order: .newestFirst, limit: 10)
            #expect(chinese.map(\.message.text) == ["电池好了"])
            #expect(try await bob.chat.messages.search("batt", in: UUID(), order: .newestFirst, limit: 9).isEmpty)
            await ann.disconnect()
        }
    }
}
