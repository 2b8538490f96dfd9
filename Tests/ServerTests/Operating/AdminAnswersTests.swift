import Foundation
import NIOCore
import NIOPosix
import Testing
import TidemarkAssembly
import TidemarkEmbeddedStore
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkEdge
@testable import TidemarkNode

/// The operators' API of a server in use.
@Suite(.timeLimit(.minutes(5))) struct AdminAnswersTests {
    @Test func `connections are listed with their users, and ended ones with the reason`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            try await ann.push(from: 1, Sample.profile(11))
            _ = try await ann.settled(through: 1)
            _ = try await bob.changes(acknowledging: false)
            let all = try await server.admin("connections?sort=pending")
            let rows = all.list("connections")
            #expect(all.number("matching") == 2 && rows.count == 2)
            #expect(rows.map { $0.text("user") } == ["bob", "ann"], "Bob has not acknowledged what he got")
            #expect((rows[0].number("pending") ?? 0) > 0 && (rows[0].number("bytes") ?? 0) > 0)
            #expect(rows[0].text("client") == "\(bob.id)" && rows[0].text("workspace") == "w")
            #expect(rows[0].text("address") == "127.0.0.1" && rows[0].number("lag") == 0)
            #expect(rows[0].number("position") == 1)
            let first = try await server.admin("connections?limit=1&sort=since&order=asc")
            let next = try #require(first.text("next"))
            let second = try await server.admin("connections?limit=1&sort=since&order=asc&after=\(next)")
            #expect(first.list("connections").map { $0.text("user") } == ["ann"])
            #expect(second.list("connections").map { $0.text("user") } == ["bob"] && second.text("next") == nil)
            let own = try await server.admin("connections?user=ann&workspace=w&client=\(ann.id)")
            #expect(own.list("connections").count == 1 && own.number("matching") == 1)
            // One leaves, one violates the protocol.
            await ann.leave()
            try await bob.send("{}")
            _ = try await bob.closeCode()
            var closed: [Fields] = []
            try await eventually("both are gone") {
                closed = try await server.admin("connections/closed").list("connections")
                return closed.count == 2
            }
            let byUser = Dictionary(closed.map { ($0.text("user"), $0) }, uniquingKeysWith: { $1 })
            #expect(byUser["ann"]?.number("code") == 1000 && byUser["ann"]?["by_client"] == true)
            #expect(byUser["bob"]?.number("code") == 4400 && byUser["bob"]?["by_client"] == false)
            #expect(byUser["bob"]?.text("reason")?.isEmpty == false)
            #expect(try await server.admin("connections/closed?user=bob").list("connections").count == 1)
        }
    }

    @Test func `of many connections only as many are listed as were requested`() async throws {
        try await TestServer.administered(change: { $0.node.tickEvery = .seconds(3_600) }) { server in
            for inbox in server.node.inboxes.values {
                try await inbox.eventLoop.submit {
                    let executor = try #require(inbox.executor.value)
                    for number in 1...2_000 {
                        let socket = Socket(
                            eventLoop: inbox.eventLoop, bearerToken: nil, ledger: ConnectionLedger(EdgeLimits()))
                        executor.connections[socket.id] = HubExecutor.Connection(socket, now: Int64(number))
                        executor.apply(.opened(socket.id, headerToken: nil))
                    }
                }.get()
            }
            let found = try await server.admin("connections?limit=1000&sort=since&order=asc")
            let rows = found.list("connections")
            #expect(found.number("matching") == 4_000 && rows.count == 1_000 && found.text("next") != nil)
            #expect(rows.map { $0.number("since") } == (2...1_001).map { Int64($0 / 2) })
        }
    }

    @Test func `a loop serves its sockets while all its connections are listed`() async throws {
        let turns = Turns()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1, metricsDelegate: turns)
        let seen = Lock<[Int]>([])
        let before = turns.count
        try await group.next().inTurns(Array(1...1_000), of: 250) { number in seen.withLock { $0.append(number) } }
            .get()
        #expect(seen.withLock { $0 } == Array(1...1_000))
        // The last part may still run when the answer arrives.
        #expect(turns.count - before >= 3, "each of four parts in a turn of its own")
        try await group.shutdownGracefully()
    }

    /// Counts the turns of a loop.
    private final class Turns: NIOEventLoopMetricsDelegate {
        private let number = Lock(0)

        var count: Int { number.current }

        func processedTick(info: NIOEventLoopTickInfo) { number.add(1) }
    }

    @Test func `refused writes are reported with their contents`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.message(20, in: 19), Sample.profile(11))
            _ = try await ann.settled(through: 2)
            let refused = try await server.admin("refused").list("refused")
            #expect(refused.count == 1)
            #expect(refused.first?.text("user") == "ann" && refused.first?.number("transaction") == 1)
            #expect(refused.first?.text("code") == "forbidden")
            #expect(refused.first?["records"] == [.string("messages/\(Sample.id(20))")])
            #expect(try await server.admin("refused?record=\(Sample.id(20))").list("refused").count == 1)
            #expect(try await server.admin("refused?record=\(Sample.id(11))").list("refused").isEmpty)
            // Over HTTP as well.
            let push = Push(first: 3, ackedThrough: 2, entries: [Push.Entry(Sample.message(21, in: 19))])
            let call = PushCall(client: ann.id, connection: 2, push: push)
            #expect(
                try await server.post("/v1/push", as: "ann", body: String(decoding: call.encode(), as: UTF8.self))
                    .status == 200)
            #expect(
                try await server.admin("refused?user=ann").list("refused").map { $0.number("transaction") } == [3, 1])
        }
    }

    @Test func `a record is reported with each change and its user`() async throws {
        try await TestServer.administered { server in
            // Bodies are kept for a node that follows.
            _ = try await server.node.store.follow(WorkspaceID("w"), node: 77, now: server.node.now())
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.profile(11, name: "Ann"))
            _ = try await ann.settled(through: 1)
            try await ann.push(
                from: 2,
                Transaction(
                    id: Sample.id(99),
                    mutations: [
                        Mutation(
                            key: RecordKey(collection: "users", id: Sample.id(11)),
                            action: .update([NamedPatch("displayName", .set("<script>alert(1)</script>"))]))
                    ], clientTime: 0))
            _ = try await ann.settled(through: 2)
            let record = try #require(
                try await server.admin("record?workspace=w&record=\(Sample.id(11))").list("records").first)
            #expect(record.text("collection") == "users" && record.text("author") == "ann")
            guard case .object(let fields)? = record["fields"] else { throw Missing() }
            #expect(fields.text("displayName") == "<script>alert(1)</script>")
            let history = record.list("history")
            #expect(history.map { $0.text("kind") } == ["changed", "created"])
            #expect(history.map { $0.text("author") } == ["ann", "ann"])
            #expect(history.first?.list("changes").first?.text("old") == "Ann")
            #expect(record.number("known_from") == 1)
            let none = try await server.admin("record?workspace=w&record=messages/\(Sample.id(11))")
            #expect(none.list("records").isEmpty && none.number("head") == 2)
        }
    }

    @Test func `all writes of a record in the middle of a batch are reported`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "history-\(UUID().uuidString)/w.sqlite").path
        let store = try EmbeddedStore(path: path)
        defer { #expect(throws: Never.self) { try store.close() } }
        try await TestServer.administered(over: OpenedStore(store)) { server in
            _ = try await server.node.store.follow(WorkspaceID("w"), node: 77, now: server.node.now())
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            var both = Sample.profile(11, name: "Ann")
            both.mutations += Sample.profile(12, name: "Second").mutations
            try await ann.push(from: 1, both)
            _ = try await ann.settled(through: 1)
            for (id, born) in [(11, 1), (12, 2)] as [(UInt64, Int64)] {
                let answer = try await server.admin("record?workspace=w&record=\(Sample.id(id))")
                let record = try #require(answer.list("records").first)
                #expect(record.number("born") == born && record.number("known_from") == born)
                #expect(record.list("history").map { $0.text("kind") } == ["created"])
                #expect(record.list("history").map { $0.text("author") } == ["ann"])
            }
        }
    }

    private struct Missing: Error {}

    @Test func `why follows the facts, from a write to its delivery and its end`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"), Sample.message(31, in: 30))
            _ = try await ann.settled(through: 2)
            func why(_ user: String, _ record: UInt64 = 31) async throws -> (String?, String?) {
                let answer = try await server.admin("why?workspace=w&user=\(user)&record=\(Sample.id(record))")
                return (answer.text("answer"), answer.text("sentence"))
            }
            #expect(try await why("bob", 77).0 == "no_such_record")
            #expect(try await why("carl").0 == "no_such_user")
            #expect(try await why("bob").0 == "no_device")
            let carl = try await TestClient.welcomed(server, as: "carl", 3)
            #expect(try await why("carl").0 == "never_member")
            await carl.leave()
            let bob = try await TestClient.welcomed(server, as: "bob", 2)
            #expect(try await why("bob").0 == "delivered")
            try await ann.push(from: 3, Sample.removal(32, of: "bob", from: 30))
            _ = try await ann.settled(through: 3)
            let gone = try await why("bob")
            #expect(gone.0 == "member_no_more" && gone.1?.contains("any more since #3 (was member from #1 on)") == true)
            await bob.leave()
            let device = try await server.admin("device?workspace=w&client=\(ann.id)")
            #expect(device.text("answer") == "well", "\(device.text("text") ?? "")")
            #expect(try await server.admin("device?workspace=w&client=\(Sample.id(500))").text("answer") == "unknown")
            let scope = try await server.admin("scope?workspace=w&scope=\(Sample.id(30))")
            #expect(scope.list("members").map { $0.text("user") } == ["ann"])
            #expect(scope.list("records").map { $0.text("collection") } == ["conversations"])
            for (word, kind) in [("ann", "user"), ("\(ann.id)", "device"), ("\(Sample.id(31))", "record")] {
                let hits = try await server.admin("search?workspace=w&q=\(word)").list("hits")
                #expect(hits.map { $0.text("kind") } == [kind], "\(word)")
            }
            let both = try await server.admin("search?workspace=w&q=\(Sample.id(30))").list("hits")
            #expect(both.map { $0.text("kind") } == ["record", "scope"])
        }
    }

    @Test func `a workspace is reported with its progress`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"))
            _ = try await ann.settled(through: 1)
            let found = try await server.admin("workspaces")
            let row = try #require(found.list("workspaces").first)
            #expect(row.text("workspace") == "w" && row.number("head") == 1 && row.number("members") == 2)
            #expect(row.number("lag") == 0 && found["more"] == false)
            #expect(row.number("files") == 0 && row.number("file_bytes") == 0)
            let picture = Blob(
                digest: BlobDigest(sha256: Array(repeating: 7, count: 32)), bytes: Array("a picture".utf8))
            _ = try await server.node.blobs.store.put(
                picture, in: ScopeID(record: Sample.id(30)), of: WorkspaceID("w"), by: UserID("ann"), now: 1)
            let after = try #require(try await server.admin("workspaces").list("workspaces").first)
            #expect(after.number("files") == 1 && after.number("file_bytes") == 9)
            #expect(try await server.admin("workspaces?after=w").list("workspaces").isEmpty)
            let backups = try await server.admin("backups?workspace=w")
            #expect(backups["known"] == false, "a store in memory has no backups")
        }
    }

    @Test func `a device is signed out with a reason, and both are stored`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            let devices = try await server.admin("devices?workspace=w").list("devices")
            #expect(devices.map { $0.text("id") } == ["\(ann.id)"] && devices.first?["connected"] == true)
            let body = #"{"workspace":"w","client":"\#(ann.id)","why":"lost on a train"}"#
            #expect(try await server.admin("revocations", body: body).number("not_before") != nil)
            #expect(try await ann.closeCode() == 4403)
            // By the older call with an operator's token, and by the user's own call, which is not an operator's act.
            let token = try server.token("root", isOperator: true)
            let header = [("Authorization", "Bearer \(token)")]
            let revoked = try await server.call(
                "POST", "/v1/revocations", body: #"{"workspace":"w","user":"bob","why":"left"}"#, headers: header)
            #expect(
                revoked.status == 200 && revoked.text.hasSuffix(#","known":false}"#),
                "nobody has seen a device of bob's")
            let again = try await server.adminCall("/admin/v1/revocations", body: #"{"workspace":"w","user":"ann"}"#)
            #expect(again.status == 200 && again.text.hasSuffix(#","known":true}"#))
            #expect(try await server.post("/v1/revocations", as: "carl", body: #"{"user":"carl"}"#).status == 200)
            let failed = try await server.adminCall(
                "/admin/v1/revocations", body: #"{"workspace":"w","client":"\#(Sample.id(9))"}"#)
            #expect(failed.status == 404)
            let acts = try await server.admin("audit").list("acts")
            #expect(acts.map { $0.text("who") } == ["ann", "root", "ann"])
            #expect(acts.map { $0.text("act") } == ["revoke", "revoke", "revoke"])
            #expect(acts.map { $0.text("user") } == ["ann", "bob", "ann"])
            #expect(acts.map { $0.text("why") } == ["", "left", "lost on a train"])
            #expect(acts.last?.text("argument") == "device \(ann.id)" && acts.last?.text("outcome") == "done")
            #expect(try await server.admin("audit?limit=1").list("acts").count == 1)
        }
    }

    @Test func `activating a schema is an act, and a refused one is not`() async throws {
        try await TestServer.administered { server in
            let header = [("Authorization", "Bearer \(try server.token("root", isOperator: true))")]
            let apply = #"{"min_app":"chat 2","note":"old ones lose data","accept":true}"#
            let answer = try await server.call("POST", "/v1/schema", body: apply, headers: header)
            #expect(answer.status == 200, "\(answer.text)")
            let bad = try await server.call("POST", "/v1/schema", body: #"{"document":"{}"}"#, headers: header)
            #expect(bad.status == 400)
            let acts = try await server.admin("audit").list("acts")
            #expect(acts.map { $0.text("act") } == ["min_app"])
            #expect(acts.first?.text("why") == "old ones lose data" && acts.first?.text("who") == "root")
        }
    }

    @Test func `a restore is tried out on deleted records`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            func delete(_ collection: String, _ id: UInt64) -> Transaction {
                let key = RecordKey(collection: collection, id: Sample.id(id))
                return Transaction(
                    id: Sample.id(900 + id), mutations: [Mutation(key: key, action: .delete)], clientTime: 0)
            }
            try await ann.push(
                from: 1, Sample.conversation(30, of: "ann", "bob"), Sample.message(31, in: 30), delete("messages", 31))
            _ = try await ann.settled(through: 3)
            func may(_ user: String, _ collection: String, _ id: UInt64, _ fields: String) async throws -> Fields {
                try await server.admin(
                    "may",
                    body: #"""
                        {"workspace":"w","user":"\#(user)","action":"undelete","collection":"\#(collection)",
                        "record":"\#(Sample.id(id))","fields":\#(fields)}
                        """#)
            }
            let forged = #"{"conversationId":"\#(Sample.id(30))","text":"forged","sentAt":1}"#
            let own = try await may("ann", "messages", 31, forged)
            guard case .object(let restored)? = own["would_be"] else { throw Missing() }
            #expect(own["may"] == true && restored.text("text") == "hi")
            #expect(try await may("bob", "messages", 31, forged).text("code") == "forbidden")
            #expect(try await may("carl", "messages", 31, forged).text("code") == "not_found")
            try await ann.push(from: 4, delete("conversations", 30))
            _ = try await ann.settled(through: 4)
            let people = #"{"kind":"group","participantIds":["ann","bob","carl"]}"#
            #expect(try await may("ann", "conversations", 30, people)["may"] == true)
            #expect(try await may("bob", "conversations", 30, people).text("code") == "forbidden")
            #expect(try await may("carl", "conversations", 30, people).text("code") == "not_found")
        }
    }

    @Test func `rules are tried out by the code that judges writes, and nothing is written`() async throws {
        try await TestServer.administered { server in
            let ann = try await TestClient.welcomed(server, as: "ann", 1)
            try await ann.push(from: 1, Sample.conversation(30, of: "ann", "bob"), Sample.message(31, in: 30))
            _ = try await ann.settled(through: 2)
            func may(
                _ user: String, _ action: String, _ collection: String, _ id: UInt64, fields: String = "{}",
                more: String = ""
            ) async throws -> Fields {
                try await server.admin(
                    "may",
                    body: #"""
                        {"workspace":"w","user":"\#(user)","action":"\#(action)","collection":"\#(collection)",
                        "record":"\#(Sample.id(id))","fields":\#(fields)\#(more)}
                        """#)
            }
            let message = #"{"conversationId":"\#(Sample.id(30))","text":"hi","sentAt":1}"#
            let yes = try await may("bob", "create", "messages", 40, fields: message)
            #expect(yes["may"] == true && yes.text("sentence") == "bob may create messages/\(Sample.id(40)).")
            guard case .object(let made)? = yes["would_be"] else { throw Missing() }
            #expect(made.text("text") == "hi")
            let no = try await may("carl", "create", "messages", 40, fields: message)
            #expect(no["may"] == false && no.text("code") == "forbidden")
            #expect(try await may("carl", "delete", "messages", 31).text("code") == "not_found")
            #expect(try await may("ann", "delete", "messages", 31)["may"] == true)
            #expect(
                try await may("bob", "update", "conversations", 30, fields: #"{"kind":7}"#).text("code") == "invalid")
            #expect(try await may("carl", "delete", "messages", 31, more: #","service":true"#)["may"] == true)
            #expect(try await may("ann", "delete", "messages", 31, more: #","if_seq":1"#).text("code") == "conflict")
            #expect(try await may("ann", "create", "nothing", 50).text("code") == "unknown_collection")
            let head = try await server.node.store.session(
                for: UserID("ann"), client: nil, in: WorkspaceID("w")
            ).head.seq
            #expect(head == 2, "nothing was written")
            // The only member of a conversation may end it, although its owner may delete it.
            #expect(try await may("bob", "delete", "conversations", 30).text("code") == "forbidden")
            let key = RecordKey(collection: "conversations", id: Sample.id(30))
            let leaving = Mutation(key: key, action: .update([NamedPatch("participantIds", .remove(["ann"]))]))
            try await ann.push(from: 3, Transaction(id: Sample.id(930), mutations: [leaving], clientTime: 0))
            _ = try await ann.settled(through: 3)
            #expect(try await may("bob", "delete", "conversations", 30)["may"] == true)
        }
    }
}
