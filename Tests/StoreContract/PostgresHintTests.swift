import Foundation
import Testing
import TidemarkModel
import TidemarkPostgres
import TidemarkStore

@testable import TidemarkPostgresStore

@Suite struct HintPayloadTests {
    @Test func `hints of hostile names come back unchanged`() throws {
        var heads: [WorkspaceID: SequenceNumber] = [:]
        for (index, name) in (IsolationTests.hostile + [",:;*%", "%2", "%2c", "*"]).enumerated() {
            heads[WorkspaceID(name)] = Int64(index)
        }
        let payload = HintPayload(node: .max, heads: heads)
        #expect(HintPayload(payload.text) == payload)
        #expect(HintPayload(HintPayload(node: 3, heads: nil).text) == HintPayload(node: 3, heads: nil))
    }

    @Test func `a hint that does not fit becomes a call to poll`() {
        func payload(_ count: Int64) -> HintPayload {
            HintPayload(
                node: 1,
                heads: Dictionary(uniqueKeysWithValues: (0..<count).map { (WorkspaceID("workspace \($0)"), $0) }))
        }
        #expect(payload(300).text.hasPrefix("1;workspace 0:0,"))
        #expect(payload(600).text == "1;*")
        for count: Int64 in 350...500 { #expect(payload(count).text.utf8.count < HintPayload.bytesMax) }
    }

    @Test(arguments: ["", "1", "x;a:1", "1;a", "1;a:", "1;a:b", "1;a:1,", "1;%zz:1", "1;%e:1", "1;%ff:1", "-1;a:1"])
    func `an invalid hint is refused`(_ text: String) {
        #expect(HintPayload(text) == nil)
    }
}

@Suite(.enabled(if: TestSchema.isGiven), .timeLimit(.minutes(5)))
struct PostgresHintTests {
    /// One node's hints on a channel of the test's own.
    private struct Node {
        let hints: PostgresHints
        let heard: AsyncStream<CommitHint>
        let words: AsyncStream<String>

        init(_ node: UInt64, channel: String, _ schema: TestSchema) throws {
            let (heard, feed) = AsyncStream<CommitHint>.makeStream()
            self.heard = heard
            let (words, telling) = AsyncStream<String>.makeStream()
            self.words = words
            hints = try PostgresHints(
                configuration: schema.configuration(), node: node, channel: channel, clock: ContinuousClock(),
                logger: TestSchema.logger, hear: { telling.yield($0) }
            ) { feed.yield($0) }
        }
    }

    @Test func `messages reach the other nodes, and are no hints`() async throws {
        try await TestSchema.with { schema in
            let channel = "hints " + UUID().uuidString
            let (first, second) = (try Node(1, channel: channel, schema), try Node(2, channel: channel, schema))
            await withThrowingTaskGroup { group in
                for node in [first, second] { group.addTask { try await node.hints.run() } }
                var hints = second.heard.makeAsyncIterator()
                var words = second.words.makeAsyncIterator()
                #expect(await hints.next() == .unknown)
                let said = ["{\"a\":\"é;*\"}", "b"] + (0..<20).map { "\($0) " + String(repeating: "x", count: 990) }
                for word in said { first.hints.tell(word) }
                for word in said { #expect(await words.next() == word) }
                second.hints.tell("back")
                var back = first.words.makeAsyncIterator()
                #expect(await back.next() == "back", "its own did not come back")
                first.hints.announce(WorkspaceID("c"), 7)
                #expect(await hints.next() == .grown(WorkspaceID("c"), 7))
                group.cancelAll()
            }
        }
    }

    @Test func `a node receives the others' hints and not its own, and first of all a call to poll`() async throws {
        try await TestSchema.with { schema in
            let channel = "hints " + UUID().uuidString
            let first = try Node(1, channel: channel, schema)
            let second = try Node(2, channel: channel, schema)
            try await withThrowingTaskGroup { group in
                for node in [first, second] { group.addTask { try await node.hints.run() } }
                var heardFirst = first.heard.makeAsyncIterator()
                var heardSecond = second.heard.makeAsyncIterator()
                #expect(await heardFirst.next() == .unknown)
                #expect(await heardSecond.next() == .unknown)
                for seq: Int64 in 1...200 { first.hints.announce(WorkspaceID("a,b"), seq) }
                var last: Int64 = 0
                while last < 200 {
                    guard case .grown(WorkspaceID("a,b"), let seq) = await heardSecond.next() else {
                        Issue.record("not a hint of the workspace")
                        break
                    }
                    #expect(seq > last)
                    last = seq
                }
                second.hints.announce(WorkspaceID("c"), 7)
                #expect(await heardFirst.next() == .grown(WorkspaceID("c"), 7), "its own 200 did not come back")
                try await schema.sql("SELECT pg_notify('\(channel)', 'nonsense')::text")
                try await schema.sql("SELECT pg_notify('\(channel)', '3;*')::text")
                #expect(await heardFirst.next() == .unknown)
                group.cancelAll()
            }
        }
    }
}
