import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkTestKit

/// A deleted conversation is deleted with everything that belongs to it.
@Suite(.timeLimit(.minutes(5))) struct DeletionTests {
    @Test func `a conversation that is deleted takes its messages and receipts along, on every device`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let devices = (ann: try await kit.client("ann"), bob: try await kit.client("bob"))
        let (ann, bob) = (Chat(devices.ann.store), Chat(devices.bob.store))
        let kept = try await ann.conversations.createDirect(with: UserID("bob")).id
        let gone = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        for number in 1...5 {
            try await ann.messages.send("gone \(number)", to: gone)
            try await ann.messages.send("kept \(number)", to: kept)
        }
        try await kit.settle()
        let seen = try await bob.messages.newestPage(of: gone, limit: 10)
        #expect(seen.count == 5)
        try await bob.messages.markRead(seen)
        try await kit.settle()
        await #expect(throws: StoreError.self) { try await bob.conversations.delete(gone) }
        devices.bob.goOffline()
        try await bob.messages.send("too late", to: gone)
        try await ann.conversations.delete(gone)
        #expect(try await ann.conversations.read(gone) == nil)
        await #expect(throws: ChatError.notFound) { try await ann.conversations.delete(gone) }
        try await kit.settle()
        devices.bob.goOnline()
        try await kit.settle()
        for chat in [ann, bob] {
            #expect(try await chat.conversations.read(gone) == nil)
            // Bob's own unsent messages stay in their positions for him to read.
            let left = try await chat.messages.newestPage(of: gone, limit: 10)
            #expect(left.allSatisfy { $0.status == .failed && $0.text == "too late" })
            #expect(try await chat.messages.search("gone", in: nil, order: .relevance, limit: 10).isEmpty)
            #expect(try await chat.messages.newestPage(of: kept, limit: 10).count == 5)
            for table in ["messages", "receipts", "conversations"] {
                let rows = try await chat.store.read { snapshot in
                    try snapshot.rows("SELECT 1 FROM \(table) WHERE scope = ?", [.id(gone)]).count
                }
                #expect(rows == 0, "\(table)")
            }
        }
        #expect(try await bob.store.outbox.rejected().count == 1)
        try kit.expectConverged()
    }

    @Test func `conversations and users show the progress of their sending, and who is present`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let device = try await kit.client("ann")
        let ann = Chat(device.store)
        _ = try await kit.client("bob")
        let group = try await ann.conversations.createGroup(name: "g", imageURL: nil, members: [UserID("bob")]).id
        try await ann.users.updateProfile { $0.displayName = "Ann" }
        #expect(try await ann.conversations.read(group)?.sending?.attempts == 0)
        #expect(try await ann.users.read(UserID("ann"))?.sending?.lastAttempt == nil)
        try await kit.settle()
        #expect(try await ann.conversations.read(group)?.sending == nil)
        #expect(try await ann.users.read(UserID("ann"))?.syncState == .synced)
        kit.faults.silence(device)
        try await ann.conversations.rename(group, to: "h")
        try await ann.users.updateProfile { $0.displayName = "Anna" }
        await kit.advance(by: .seconds(1))
        let waiting = try #require(try await ann.conversations.read(group))
        #expect(waiting.syncState == .pending && waiting.sending?.isSending == true)
        #expect(waiting.sending?.attempts == 1 && waiting.sending?.lastAttempt != nil)
        let users = try await ann.users.observe().first { _ in true }
        #expect(users.first?.sending?.attempts == 1 && users.first?.sending?.lastAttempt != nil)
        try await kit.settle()
        #expect(try await ann.conversations.read(group)?.sending == nil)
        #expect(try await ann.users.read(UserID("ann"))?.sending == nil)
        let present = try await kit.whileRunning { () -> [UserID: Presence]? in
            for await presence in ann.conversations.observePresence(in: group) where presence[UserID("bob")] == .online
            {
                return presence
            }
            return nil
        }
        #expect(present?[UserID("bob")] == .online)
    }
}
