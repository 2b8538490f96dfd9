import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

/// Budgets of time, on a file and in a debug build. The best of a few tries counts: machines do other things as well.
@Suite(.timeLimit(.minutes(3)), .serialized) struct BudgetTests {
    /// A messenger with a database file, offline, in a conversation with bob.
    private struct Phone {
        let kit: TestKit
        let client: TestClient
        let chat: Chat
        let conversation: UUID

        init(at folder: URL) async throws {
            kit = try TestKit(schema: try ChatSchema.schema())
            client = try await kit.client("ann", at: folder)
            chat = Chat(client.store)
            conversation = try await chat.conversations.createDirect(with: UserID("bob")).id
            try await kit.settle()
        }

        /// Writes so many messages in transactions of fifty.
        func fill(_ count: Int, from first: Int = 0) async throws {
            for start in stride(from: first, to: first + count, by: 50) {
                try await client.store.write { batch in
                    for number in start..<min(start + 50, first + count) {
                        batch.create(StoredLine(conversationId: conversation, text: "line \(number)", sentAt: number))
                    }
                }
            }
        }
    }

    private struct StoredLine: SyncModel {
        static let collection = "messages"
        var id = UUID()
        var conversationId: UUID
        var text: String
        var sentAt: Int
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tidemark-budget-\(UUID())")
        // Nothing is lost when a temporary folder stays behind.
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    private func best(of tries: Int = 3, _ body: () async throws -> Void) async throws -> Duration {
        let clock = ContinuousClock()
        var times: [Duration] = []
        for _ in 0..<tries { times.append(try await clock.measure { try await body() }) }
        return times.min() ?? .zero
    }

    @Test func `a batch of 100 is inserted within 500 ms and 1,000 within 2 s`() async throws {
        try await withFolder { folder in
            let phone = try await Phone(at: folder)
            phone.client.goOffline()
            #expect(try await best { try await phone.fill(100) } < .milliseconds(500))
            #expect(try await best(of: 2) { try await phone.fill(1_000) } < .seconds(2))
        }
    }

    @Test func `of 10,000 messages 1,000 are read within 500 ms, and a page of 50 within 100 ms`() async throws {
        try await withFolder { folder in
            let phone = try await Phone(at: folder)
            try await phone.fill(10_000)
            try await phone.kit.settle()
            let messages = phone.chat.messages
            var count = 0
            let thousand = try await best {
                count = try await messages.newestPage(of: phone.conversation, limit: 1_000).count
            }
            #expect(count == 1_000 && thousand < .milliseconds(500), "\(thousand)")
            let page = try await best {
                count = try await messages.newestPage(of: phone.conversation, limit: 50).count
            }
            #expect(count == 50 && page < .milliseconds(100), "\(page)")
        }
    }

    @Test func `with 1,000 conversations the list is there within 500 ms of a start, and within 100 ms again`()
        async throws
    {
        try await withFolder { folder in
            let phone = try await Phone(at: folder)
            phone.client.goOffline()
            for number in 0..<1_000 {
                _ = try await phone.chat.conversations.createGroup(name: "\(number)", imageURL: nil, members: [])
            }
            try await phone.fill(50)
            var count = 0
            let start = try await best {
                try await phone.client.kill()
                try await phone.client.relaunch()
                let chat = Chat(phone.client.store)
                for try await list in chat.conversations.observe(newest: 50) {
                    count = list.count
                    break
                }
                #expect(try await chat.messages.newestPage(of: phone.conversation, limit: 50).count == 50)
            }
            #expect(count == 50 && start < .milliseconds(500), "\(start)")
            let chat = Chat(phone.client.store)
            let again = try await best {
                for try await _ in chat.conversations.observe(newest: 50) { break }
            }
            #expect(again < .milliseconds(100), "\(again)")
        }
    }

    @Test func `a message is shown within 50 ms of its sending, with a thousand before it`() async throws {
        try await withFolder { folder in
            let phone = try await Phone(at: folder)
            try await phone.fill(1_000)
            try await phone.kit.settle()
            phone.client.goOffline()
            var pages = phone.chat.messages.observe(phone.conversation, newest: 50).makeAsyncIterator()
            _ = try await pages.next()
            let clock = ContinuousClock()
            var times: [Duration] = []
            for number in 1...5 {
                let start = clock.now
                let sent = try await phone.chat.messages.send("now \(number)", to: phone.conversation)
                while let page = try await pages.next(), page.last?.id != sent.id {}
                times.append(start.duration(to: clock.now))
            }
            let shown = try #require(times.min())
            #expect(shown < .milliseconds(50), "\(shown)")
            #expect(
                try await phone.chat.messages.newestPage(of: phone.conversation, limit: 1).first?.status == .sending)
        }
    }

    @Test func `10 pending messages are pushed within 2 s of work and 100 synced to another device within 5 s`()
        async throws
    {
        try await withFolder { folder in
            let phone = try await Phone(at: folder)
            let bob = try await phone.kit.client("bob")
            try await phone.kit.settle()
            #expect(
                try await best {
                    try await phone.fill(10)
                    try await phone.kit.settle()
                } < .seconds(2))
            #expect(
                try await best(of: 2) {
                    try await phone.fill(100)
                    try await phone.kit.settle()
                } < .seconds(5))
            #expect(try await bob.store.repository(StoredLine.self).readAll().count == 230)
            try phone.kit.expectConverged()
        }
    }
}
