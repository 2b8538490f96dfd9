import Foundation
import NIOPosix
import Testing
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkTerminal

/// `tidemark erase`, as an operator uses it.
@Suite(.timeLimit(.minutes(5))) struct EraseCommandTests {
    private static let secret = "what-nobody-may-keep"

    private func erase(_ server: LiveServer, _ scope: LocalID, _ flags: String...) async throws -> Binary.Outcome {
        try await Binary.run(
            [
                "erase", "scope", scope.description, "--workspace", LiveServer.workspace.text, "--database",
                server.database,
            ]
                // Beside a server, the environment has the address on which it listens.
                + flags, environment: ["TIDEMARK_LISTEN": "0.0.0.0:8080"])
    }

    /// A conversation of Ann and Bob with so many messages; returns Ann's connection.
    private func talk(_ server: LiveServer, _ messages: Int64, saying text: String = secret) async throws -> (
        LocalID, RawClient, RawConnection
    ) {
        let ann = RawClient(server, user: "ann")
        let conversation = LoadTarget.newClient()
        let (socket, _) = try await ann.connect(1, isNew: true)
        try await socket.push(
            Push(first: 1, ackedThrough: 0, entries: [.init(.opening(conversation, ["ann", "bob"]))]))
        _ = try await socket.settled(through: 1)
        for first in stride(from: 2, through: messages + 1, by: 100) {
            let numbers = first..<min(first + 100, messages + 2)
            let entries = numbers.map { number in
                var said = Transaction.saying(number, in: conversation)
                said = Transaction(
                    id: said.id, mutations: said.mutations.map { $0.saying(text) }, clientTime: said.clientTime)
                return Push.Entry(said)
            }
            try await socket.push(Push(first: first, ackedThrough: first - 1, entries: entries))
            let outcomes = try await socket.settled(through: numbers.upperBound - 1)
            #expect(outcomes.allSatisfy { $0.rejection == nil })
        }
        return (conversation, ann, socket)
    }

    /// The welcome of the user's device that connects while it holds the scope.
    private func welcome(
        _ client: RawClient, _ connection: Int64, holding scope: LocalID, isNew: Bool = false
    ) async throws -> Welcome {
        let socket = try await NIOWebSocketClient.connect(
            host: client.server.address.host, port: client.server.address.port, path: "/v1/sync", useTLS: false,
            headers: [], maxMessageBytes: 4 << 20, group: MultiThreadedEventLoopGroup.singleton)
        let hello = Hello(
            token: try client.server.token(client.user), client: client.id, isNewClient: isNew, connection: connection,
            scopes: [HeldScope(scope: ScopeID(record: scope), since: 1)])
        try await socket.send(ClientMessage.hello(hello).encode())
        guard case .welcome(let welcome) = try ServerMessage.decode(try await socket.receive()) else {
            throw BenchError("no welcome")
        }
        return welcome
    }

    @Test func `a scope is shown, erased, deleted from the files, and withdrawn from returning devices`() async throws {
        var server = try await LiveServer.start()
        let (scope, ann, socket) = try await talk(server, 300)
        let (other, _, _) = try await talk(server, 1, saying: "what stays")
        withExtendedLifetime(socket) {}
        let busy = try await erase(server, scope, "--plan")
        #expect(busy.status == 1, "the file is its server's: \(busy.text)")
        #expect(try await server.process.stop() == 0)

        let plan = try await erase(server, scope, "--plan")
        #expect(plan.status == 0, "\(plan.text)")
        for word in ["2 members", "301 records", "Nothing was changed"] {
            #expect(plan.text.contains(word), "\(plan.text)")
        }
        let unsure = try await erase(server, scope)
        #expect(unsure.status == 1 && unsure.text.contains("say --yes"), "\(unsure.text)")
        #expect(try !filesWith(Self.secret, in: server).isEmpty)
        let done = try await erase(server, scope, "--yes")
        #expect(done.status == 0 && done.text.contains("done: 2 memberships ended, 300 records"), "\(done.text)")
        #expect(try filesWith(Self.secret, in: server) == [] && !filesWith("what stays", in: server).isEmpty)
        let nothing = try await erase(server, LoadTarget.newClient(), "--yes")
        #expect(nothing.status == 1 && nothing.text.contains("are both names right"), "\(nothing.text)")
        let again = try await erase(server, scope, "--yes")
        #expect(again.status == 0 && again.text.contains("done: 0 memberships ended, 0 records"), "\(again.text)")

        server = try await server.started()
        let back = RawClient(server, user: "ann", id: ann.id)
        let welcome = try await welcome(back, 2, holding: scope)
        #expect(welcome.purged == [ScopeID(record: scope)])
        #expect(welcome.added.contains { $0.scope == ScopeID(record: other) })
        let (late, again2) = try await back.connect(3)
        let next = again2.settledThrough + 1
        try await late.push(
            Push(
                first: next, ackedThrough: next - 1,
                entries: [.init(.saying(1, in: scope)), .init(.opening(scope, ["ann"]))]))
        let outcomes = try await late.settled(through: next + 1).filter { $0.number >= next }
        #expect(outcomes.map(\.rejection?.code) == [.forbidden, .idConflict])
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a workspace is shown, erased, and wiped from returning devices, for good`() async throws {
        var server = try await LiveServer.start()
        let (scope, ann, _) = try await talk(server, 20)
        #expect(try await server.process.stop() == 0)
        func erase(_ flags: String...) async throws -> Binary.Outcome {
            try await Binary.run(
                ["erase", "workspace", "--workspace", LiveServer.workspace.text, "--database", server.database] + flags)
        }
        let plan = try await erase("--plan")
        #expect(plan.status == 0 && plan.text.contains("21 changes so far"), "\(plan.text)")
        let done = try await erase("--yes")
        #expect(done.status == 0 && done.text.contains("done: "), "\(done.text)")
        #expect(try filesWith(Self.secret, in: server) == [] && filesWith(scope.description, in: server) == [])
        let again = try await erase("--yes")
        #expect(again.status == 0 && again.text.contains("done: 0 rows"), "\(again.text)")
        server = try await server.started()
        let back = RawClient(server, user: "ann", id: ann.id)
        #expect(try await welcome(back, 2, holding: scope).purged == [ScopeID(record: scope)])
        #expect(try await server.process.stop() == 0)
    }

    @Test func `a user is shown, erased, named in no file, and their messages stay`() async throws {
        let server = try await LiveServer.start()
        let name = "annabel-lee"
        let (conversation, own) = (LoadTarget.newClient(), LoadTarget.newClient())
        let client = RawClient(server, user: name)
        let (socket, _) = try await client.connect(1, isNew: true)
        let said = [
            Transaction.opening(conversation, [name, "bob"]), .saying(1, in: conversation), .opening(own, [name]),
        ]
        try await socket.push(Push(first: 1, ackedThrough: 0, entries: said.map { .init($0) }))
        #expect(try await socket.settled(through: 3).allSatisfy { $0.rejection == nil })
        #expect(try await server.process.stop() == 0)
        func erase(_ flags: String...) async throws -> Binary.Outcome {
            try await Binary.run(
                ["erase", "user", name, "--workspace", LiveServer.workspace.text, "--database", server.database] + flags
            )
        }
        let plan = try await erase("--plan")
        #expect(plan.text.contains("1 client, 2 memberships, author of 3 records"), "\(plan.text)")
        let done = try await erase("--yes")
        #expect(done.status == 0 && done.text.contains("done: 1 client, "), "\(done.text)")
        #expect(try filesWith(name, in: server) == [])
        #expect(try !filesWith(conversation.description, in: server).isEmpty)
    }

    /// The names of the server's files that contain a text.
    private func filesWith(_ text: String, in server: LiveServer) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: server.folder.path).filter { name in
            let data = try Data(contentsOf: URL(fileURLWithPath: server.folder.path).appendingPathComponent(name))
            return data.range(of: Data(text.utf8)) != nil
        }
    }

    @Test(.enabled(if: TestPostgres.uri != nil))
    func `beside a server on PostgreSQL, and killed repeatedly, it finishes`() async throws {
        let server = try await LiveServer.start(database: TestPostgres.uri)
        let (scope, ann, socket) = try await talk(server, 3_000)
        for lines in 1...5 {
            let child = try ChildProcess(
                try Binary.path,
                [
                    "erase", "scope", scope.description, "--workspace", LiveServer.workspace.text, "--database",
                    server.database, "--yes",
                ])
            var left = lines
            for await _ in child.lines {
                left -= 1
                if left == 0 { child.signal(SIGKILL) }
            }
            _ = await child.ended()
        }
        let done = try await erase(server, scope, "--yes")
        // It may have finished before a kill.
        #expect(done.status == 0 && done.text.contains("done:"), "\(done.text)")
        var isTold = false
        while !isTold {
            if case .changes(let changes) = try ServerMessage.decode(try await socket.socket.receive()) {
                isTold = changes.grants.contains { $0.scope == ScopeID(record: scope) && $0.role == nil }
            }
        }
        let plan = try await erase(server, scope, "--plan")
        #expect(plan.text.contains("0 members, 0 records (0 bytes), 1 tombstone, 0 overwritten"), "\(plan.text)")
        let welcome = try await welcome(RawClient(server, user: "bob"), 1, holding: scope, isNew: true)
        #expect(welcome.purged == [ScopeID(record: scope)])
        let (_, mine) = try await ann.connect(2)
        #expect(!mine.added.contains { $0.scope == ScopeID(record: scope) })
        #expect(try await server.process.stop() == 0)
    }
}

extension Mutation {
    /// The same message with another text.
    fileprivate func saying(_ text: String) -> Mutation {
        guard case .create(var fields) = action else { return self }
        fields["text"] = .string(text)
        return Mutation(key: key, action: .create(fields))
    }
}
