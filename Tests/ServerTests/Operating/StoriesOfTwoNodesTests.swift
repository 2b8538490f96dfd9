import Foundation
import Testing
import TidemarkEmbeddedStore
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// An operator's answers about devices, given by one of several servers.
@Suite(.timeLimit(.minutes(5))) struct StoriesOfTwoNodesTests {
    private static func why(_ server: TestServer, _ record: UInt64) async throws -> Fields {
        try await server.admin("why?workspace=w&user=bob&record=\(Sample.id(record))")
    }

    /// Waits until Bob's connection has ended.
    private static func left(_ server: TestServer) async throws {
        try await eventually("bob is gone") {
            try await !server.admin("connections/closed?user=bob").list("connections").isEmpty
        }
    }

    private static func state(_ answer: Fields) -> String? { answer.list("devices").first?.text("state") }

    /// Bob is connected to `other`; all questions are sent to `one`.
    private func expectTruth(of one: TestServer, where other: TestServer, servers: Int64) async throws {
        let ann = try await TestClient.welcomed(one, as: "ann", 1)
        let bob = try await TestClient.welcomed(other, as: "bob", 2)
        try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"), Sample.message(31, in: 30))
        _ = try await ann.settled(through: 2)
        var seen: [UniqueID] = []
        while !seen.contains(Sample.id(31)) { seen += try await bob.changes().records.map(\.key.id) }

        try await eventually("the servers hear each other") { try await Self.why(one, 31).number("silent") == 0 }
        let here = try await Self.why(one, 31)
        #expect(here.text("answer") == "delivered" && Self.state(here) == "delivered", "\(here.text("text") ?? "")")
        #expect(here.number("servers") == servers && here.number("silent") == 0)
        #expect(here.list("devices").first?["connected"] == true)
        let device = try await one.admin("device?workspace=w&client=\(bob.id)")
        #expect(device.text("answer") == "well", "\(device.text("text") ?? "")")
        for user in ["&user=bob", ""] {
            let answer = try await one.admin("devices?workspace=w\(user)")
            let listed = answer.list("devices").filter { $0.text("user") == "bob" }
            #expect(listed.map { $0["connected"] == true } == [true])
            #expect(answer.number("servers") == servers && answer.number("silent") == 0)
        }
        let header = [("Authorization", "Bearer \(try one.token("root", isOperator: true))")]
        let page = try await one.call("GET", "/v1/devices?workspace=w", headers: header)
        let asked = try DevicesAnswer.decode(page.body)
        #expect(asked.devices.first { $0.id == bob.id }?.isConnected == true, "\(page.text)")
        #expect(asked.servers == servers && asked.silent == 0)

        await bob.leave()
        try await Self.left(other)
        let gone = try await Self.why(one, 31)
        #expect(gone.text("answer") == "delivered" && Self.state(gone) == "delivered_away")
        #expect(gone.text("sentence")?.contains("and is away since 20") == true, "\(gone.text("sentence") ?? "")")
        #expect(gone.text("text")?.contains("\(bob.id), has it, away since 20") == true)
        #expect(gone.text("text")?.contains("ended with 1000") == true)
        let away = try await one.admin("device?workspace=w&client=\(bob.id)").text("sentence")
        #expect(away?.contains("has everything up to #2 of #2, and is away since") == true, "\(away ?? "")")
        try await ann.push(from: 3, Sample.message(32, in: 30))
        _ = try await ann.settled(through: 3)
        let lacking = try await Self.why(one, 32)
        #expect(lacking.text("answer") == "not_connected" && Self.state(lacking) == "away")
        #expect(
            lacking.text("sentence")?.contains("with everything up to #2, and the record's last change is #3") == true)
        let behind = try await one.admin("device?workspace=w&client=\(bob.id)").text("sentence")
        #expect(behind?.contains("because it is not connected; it was last seen at") == true)
        #expect(behind?.contains("with everything up to #2 of #3") == true, "\(behind ?? "")")
        await ann.leave()
    }

    @Test func `a device that is, or was, connected to another server is known to each of them`() async throws {
        let (relay, store) = (WordRelay(), InMemoryStore())
        let change: @Sendable (inout ServerLimits) -> Void = { $0.node.pollEvery = .milliseconds(20) }
        try await TestServer.administered(
            over: OpenedStore(store, isShared: true, relay: relay.end(1)), change: change
        ) { one in
            try await TestServer.administered(
                over: OpenedStore(store, isShared: true, relay: relay.end(2)), change: change
            ) { other in
                try await expectTruth(of: one, where: other, servers: 2)
            }
        }
    }

    @Test(.enabled(if: PostgresSchemaForTests.isGiven))
    func `a device that is connected to another server is known to each of them on PostgreSQL`() async throws {
        try await PostgresSchemaForTests.with { schema in
            let (left, right) = (try await schema.open(), try await schema.open())
            // A busy machine may be slow; the test waits no longer than the answer takes.
            let change: @Sendable (inout ServerLimits) -> Void = { $0.node.answerMax = .seconds(10) }
            try await TestServer.administered(over: left, change: change) { one in
                try await TestServer.administered(over: right, change: change) { other in
                    try await expectTruth(of: one, where: other, servers: 2)
                }
            }
        }
    }

    @Test func `a server on a file knows its devices, and which disconnected ones have a record`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "stories-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try EmbeddedStore(path: folder.appending(path: "t.sqlite").path)
        try await TestServer.administered(over: OpenedStore(store)) { server in
            try await expectTruth(of: server, where: server, servers: 1)
        }
        try store.close()
    }

    @Test func `a server that died is reported as not answering, and is forgotten a minute later`() async throws {
        let store = InMemoryStore()
        try await TestServer.administered(
            over: OpenedStore(store, isShared: true), change: { $0.node.answerMax = .milliseconds(1) }
        ) { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"), Sample.message(31, in: 30))
            _ = try await ann.settled(through: 2)
            let bob = try await TestClient.greeting(server, as: "bob", 2)
            _ = try await bob.welcome()
            await bob.leave()
            try await Self.left(server)
            let now = server.node.now()
            _ = try await store.follow(WorkspaceID("w"), node: 77, now: now)
            let answer = try await Self.why(server, 31)
            #expect(answer.number("servers") == 2 && answer.number("silent") == 1)
            let doubt = "1 of 1 other servers did not answer: what is connected there is not known"
            #expect(answer.text("text")?.contains(doubt) == true)
            #expect(answer.text("sentence")?.contains(doubt) == true)
            for list in ["devices?workspace=w", "devices?workspace=w&user=bob"] {
                let answer = try await server.admin(list)
                #expect(answer.number("servers") == 2 && answer.number("silent") == 1, "\(list)")
            }
            let device = try await server.admin("device?workspace=w&client=\(bob.id)")
            #expect(device.number("silent") == 1 && device.text("sentence")?.contains(doubt) == true)

            _ = try await store.follow(WorkspaceID("w"), node: 77, now: now - StoreLimits().followLifetime)
            let later = try await Self.why(server, 31)
            #expect(later.number("servers") == 1 && later.number("silent") == 0)
            await ann.leave()
        }
    }

    @Test func `a disconnected device has what it acknowledged, not what it was sent`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            _ = try await bob.changes()
            try await ann.push(from: 2, Sample.message(31, in: 30))
            _ = try await ann.settled(through: 2)
            _ = try await bob.changes(acknowledging: false)
            await bob.leave()
            try await Self.left(server)
            let answer = try await Self.why(server, 31)
            #expect(answer.text("answer") == "not_connected" && Self.state(answer) == "away")
            #expect(answer.list("devices").first?.number("position") == 1)
            let before = try await Self.why(server, 30)
            #expect(before.text("answer") == "delivered" && Self.state(before) == "delivered_away")
            await ann.leave()
        }
    }
}
