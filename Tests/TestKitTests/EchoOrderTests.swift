import Foundation
import Testing
import Tidemark
import TidemarkChat
import TidemarkLock
import TidemarkTestKit

@Suite(.timeLimit(.minutes(5))) struct EchoOrderTests {
    @Test func `the echo of an own message never adds a second row and never hides the message`() async throws {
        let desk = try await Desk()
        let notes = desk.ann.store.repository(Note.self)
        let seen = Lock<[[Note]]>([])
        let (ready, readied) = AsyncStream.makeStream(of: Int.self)
        let watch = Task {
            for try await page in notes.observe() {
                seen.withLock { $0.append(page) }
                readied.yield(page.filter { $0.syncState == .synced }.count)
            }
        }
        for await _ in ready { break }
        for number in 1...30 {
            if number % 3 == 0 { desk.kit.faults.dropAck(after: .commit, of: desk.ann) }
            if number % 5 == 0 { desk.kit.faults.duplicate(desk.ann) }
            try await desk.write("\(number)", by: desk.ann)
            try await desk.kit.settle()
            for await synced in ready where synced == number { break }
        }
        watch.cancel()
        let pages = seen.withLock { $0 }
        #expect(pages.count > 30)
        for (page, next) in zip(pages, pages.dropFirst()) {
            #expect(Set(next.map(\.id)).count == next.count, "never twice")
            #expect(next.map(\.id).starts(with: page.map(\.id)), "never gone, never in another place")
        }
        #expect(try desk.texts() == (1...30).map { "\($0)" })
    }

    @Test func `two users who type at once see one order, on both devices and for good`() async throws {
        let kit = try TestKit(schema: try ChatSchema.schema())
        let ann = try await kit.client("ann")
        let bob = try await kit.client("bob")
        kit.faults.latency(.milliseconds(30))
        let (annChat, bobChat) = (Chat(ann.store), Chat(bob.store))
        let conversation = try await annChat.conversations.createDirect(with: UserID("bob"))
        try await kit.settle()
        for number in 1...40 {
            try await annChat.messages.send("a\(number)", to: conversation.id)
            try await bobChat.messages.send("b\(number)", to: conversation.id)
            await kit.advance(by: .milliseconds(Int64(number % 7) * 9))
        }
        try await kit.settle()
        let left = try await annChat.messages.newestPage(of: conversation.id, limit: 100)
        let right = try await bobChat.messages.newestPage(of: conversation.id, limit: 100)
        #expect(left.count == 80)
        #expect(left.map(\.id) == right.map(\.id))
        for name in ["a", "b"] {
            #expect(left.map(\.text).filter { $0.hasPrefix(name) } == (1...40).map { "\(name)\($0)" })
        }
        let serverIDs = left.compactMap(\.serverID)
        #expect(serverIDs.count == 80 && Set(serverIDs).count == 80)
        #expect(right.map(\.serverID) == left.map(\.serverID))
        try kit.expectConverged()
    }

    @Test func `a thousand cancelled observations are never run again`() async throws {
        let desk = try await Desk()
        let reads = Lock(0)
        let values = desk.ann.store.observe { snapshot in
            reads.withLock { $0 += 1 }
            return try snapshot.readAll(Note.self, "WHERE true").count
        }
        for _ in 0..<900 {
            let watch = Task { for try await _ in values { break } }
            try await watch.value
        }
        let cancelled = (0..<100).map { _ in Task { for try await _ in values {} } }
        for watch in cancelled { watch.cancel() }
        for watch in cancelled { _ = await watch.result }
        // A first read in progress when its observer ended is no second one: it ends before this one.
        try await desk.ann.store.read { _ in }
        let before = reads.withLock { $0 }
        #expect(before >= 900)
        try await desk.write("alone", by: desk.ann)
        try await desk.kit.settle()
        for try await count in desk.ann.store.observe({ try $0.readAll(Note.self, "WHERE true").count })
        where count == 1 { break }
        #expect(reads.withLock { $0 } == before)
    }
}
