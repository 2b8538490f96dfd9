import Foundation
import GRDB
import Testing
import Tidemark
import TidemarkChat
import TidemarkModel

@Suite(.timeLimit(.minutes(5))) struct DiskFullTests {
    @Test func `changes that find no space are applied by themselves when there is space`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-\(UUID())")
        try await TestServer.running { server in
            let ann = try Messenger("ann")
            let bob = Messenger(
                try await SyncStore.open(account: UserID("bob"), at: folder, schema: try ChatSchema.schema()))
            try ann.connect(server)
            try bob.connect(server)
            let room = try await ann.chat.conversations.createDirect(with: bob.user).id
            try await ann.chat.messages.send("small", to: room)
            try await bob.messages(room) { $0.count == 1 }

            try await setRoom(bob.chat.store, pages: 2)
            for number in 1...4 {
                try await ann.chat.messages.send("\(number)" + String(repeating: "x", count: 30_000), to: room)
            }
            for await status in bob.chat.store.status where status.isDiskFull { break }
            #expect(try await bob.chat.messages.newestPage(of: room, limit: 9).first?.text == "small")

            try await setRoom(bob.chat.store, pages: 10_000)
            try await bob.messages(room) { $0.count == 5 }
            for await status in bob.chat.store.status where !status.isDiskFull { break }
            await ann.disconnect()
            await bob.disconnect()
        }
        // SQLite may be deleting files of its own at the same moment.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Lets the file grow by this many pages and no more.
    private func setRoom(_ store: SyncStore, pages: Int64) async throws {
        guard let writer = store.reader as? any DatabaseWriter else { throw CancellationError() }
        try await writer.writeWithoutTransaction { db in
            let now = try Int64.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(now + pages)")
        }
    }
}
