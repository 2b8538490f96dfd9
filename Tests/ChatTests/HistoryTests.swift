import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel

@Suite(.timeLimit(.minutes(5))) struct HistoryTests {
    private struct Line: SyncModel {
        static let collection = "messages"
        var id = UUID()
        var text: String?
    }

    @Test func `a device fetches the newest messages, the rest on request, and evicts without fetching again`()
        async throws
    {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try await TestServer.running { server in
            let ann = try Messenger("ann")
            try ann.connect(server)
            let room = try await ann.chat.conversations.createDirect(with: UserID("bob")).id
            for number in 1...30 { try await ann.chat.messages.send("\(number)", to: room) }
            try await ann.settled()

            var cache = CachePolicy()
            cache.filling = .newest(10)
            let chat = try await Chat.open(account: UserID("bob"), at: folder, cache: cache)
            let bob = Messenger(chat.store)
            try bob.connect(server)
            let lines = bob.chat.store.repository(Line.self)
            let scope = ScopeID(record: room)
            for try await history in lines.olderRecords(in: scope) where history.exist && !history.isLoading { break }
            #expect(try await bob.messages(room) { $0.count >= 10 }.map(\.text) == (21...30).map { "\($0)" })

            #expect(try await lines.loadOlder(in: scope, count: 5))
            #expect(try await bob.messages(room) { $0.count > 10 }.map(\.text) == (16...30).map { "\($0)" })
            var small = CachePolicy()
            small.maxRows = 3
            #expect(try await bob.chat.store.evict(small) == 12)
            try await ann.chat.messages.send("31", to: room)
            #expect(try await bob.messages(room) { $0.count > 3 }.map(\.text) == ["28", "29", "30", "31"])

            #expect(try await lines.loadOlder(in: scope, count: 1_000))
            #expect(try await bob.messages(room) { $0.count > 4 }.map(\.text) == (1...31).map { "\($0)" })
            for try await history in lines.olderRecords(in: scope) where !history.exist { break }
            #expect(try await !lines.loadOlder(in: scope))
            await ann.disconnect()
            await bob.disconnect()
        }
        // SQLite may be deleting files of its own at the same moment.
        try? FileManager.default.removeItem(at: folder)
    }
}
