import Foundation
import Logging
import NIOPosix
import Testing
import Tidemark
import TidemarkChat
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// The secret and the key of cursors are changed at two servers, one after the other, under devices that use both.
@Suite(.enabled(if: TestPostgres.uri != nil), .timeLimit(.minutes(10))) struct RotationTests {
    private static func key(_ letter: String) -> String { String(repeating: letter, count: 40) }
    private static let first = RotatedServers.Keys(secrets: [key("a")], cursors: [key("x")])
    /// The steps of `deploy/README.md`.
    private static let steps = [
        RotatedServers.Keys(secrets: [key("a"), key("b")], cursors: [key("x"), key("y")]),
        RotatedServers.Keys(secrets: [key("b"), key("a")], cursors: [key("y"), key("x")]),
    ]
    private static let last = RotatedServers.Keys(secrets: [key("b")], cursors: [key("y")])

    private final class Keeper: SignInStorage {
        private let kept = Lock<StoredSignIn?>(nil)

        func load() async throws -> StoredSignIn? { kept.withLock { $0 } }
        func save(_ signIn: StoredSignIn?) async throws { kept.withLock { $0 = signIn } }
    }

    /// A device that moves from one server to the other.
    private final class Roamer: Sendable {
        let chat: Chat
        private let servers: RotatedServers
        private let token: @Sendable (_ server: Int) async throws -> String
        private let failures = Lock<[SyncFailure.Code]>([])

        init(
            _ user: UserID, _ servers: RotatedServers, in folder: String,
            token: @escaping @Sendable (Int) async throws -> String
        ) async throws {
            chat = try await Chat.open(account: user, at: URL(filePath: "\(folder)/\(user.text)-\(UUID())"))
            self.servers = servers
            self.token = token
        }

        /// The obstacles that it met, except for a server that was absent for a moment.
        var obstacles: Set<SyncFailure.Code> {
            failures.withLock { Set($0) }.subtracting([.unreachable, .connectionLost, .goingAway, .unavailable])
        }

        /// Connects there, sends its pending writes and receives all changes.
        func visit(_ server: Int) async throws {
            var logger = Logger(label: "rotation")
            logger.logLevel = .critical
            try chat.store.connect(to: await servers.url(server), transport: NIOTransport(), logger: logger) {
                [token] in try await token(server)
            }
            for await status in chat.store.status {
                if let failure = status.failure { failures.withLock { $0.append(failure.code) } }
                if status.connection == .live { break }
                if case .rejected = status.connection { break }
            }
            _ = try await chat.store.syncNow()
        }

        func texts(_ room: UUID) async throws -> Set<String> {
            Set(try await chat.messages.newestPage(of: room, limit: 200).map(\.text))
        }
    }

    /// Registers an account, whose device then uses refresh tokens.
    private func account(_ login: String, _ servers: RotatedServers, in folder: String) async throws -> Roamer {
        let server = Lock(0)
        let client = AccountClient(storage: Keeper()) { path, body in
            try await servers.post(path, Array(body), at: server.withLock { $0 })
        }
        let user = try await client.register(login, password: "correct horse", client: UUID())
        return try await Roamer(user, servers, in: folder) { number in
            server.withLock { $0 = number }
            return try await client.token()
        }
    }

    @Test func `no client is stuck, signed out or fetches everything again, whichever server it uses`()
        async throws
    {
        let folder = try TemporaryFolder("tidemark-rotation")
        let database = try await KeptDatabase(.postgres, in: folder.path)
        let servers = try await RotatedServers(Self.first, on: database.location, in: folder.path)
        let signing = Lock(Self.first.signing)
        let ann = try await account("ann", servers, in: folder.path)
        let sleeper = try await account("cid", servers, in: folder.path)
        let bob = try await Roamer(UserID("bob"), servers, in: folder.path) { _ in
            try await RotatedServers.token("bob", by: signing.withLock { $0 })
        }
        let room = try await ann.chat.conversations.createGroup(
            name: "g", imageURL: nil, members: [UserID("bob"), sleeper.chat.store.account]
        ).id
        for roamer in [ann, bob, sleeper] { for server in RotatedServers.numbers { try await roamer.visit(server) } }
        await sleeper.chat.store.disconnect()
        var cursor = try await pulled(at: 0, nil, servers, by: Self.first.signing).cursor
        var written: Set<String> = []

        /// Each device visits both servers, writes there, and sees the other's writes.
        func roam(_ keys: RotatedServers.Keys, _ name: String) async throws {
            for server in RotatedServers.numbers {
                for (who, roamer) in [("ann", ann), ("bob", bob)] {
                    let text = "\(who) \(name) \(server)"
                    written.insert(text)
                    try await roamer.visit(server)
                    try await roamer.chat.messages.send(text, to: room)
                    _ = try await roamer.chat.store.syncNow()
                }
                // From an earlier cursor, with its original bytes.
                #expect(try await pulled(at: server, cursor, servers, by: keys.signing).state == "ok", "\(name)")
            }
            for roamer in [ann, bob] {
                _ = try await roamer.chat.store.syncNow()
                #expect(try await roamer.texts(room) == written, "\(name)")
            }
        }

        try await roam(Self.first, "before")
        var before = Self.first
        for (index, keys) in Self.steps.enumerated() {
            for server in RotatedServers.numbers {
                try await servers.restart(server, with: keys)
                // Backends sign tokens with the secret that all servers accept.
                try await roam(before, "step \(index) server \(server)")
            }
            signing.withLock { $0 = keys.signing }
            before = keys
            try await roam(keys, "step \(index)")
        }
        // A device that was offline all the time.
        for server in RotatedServers.numbers { try await sleeper.visit(server) }
        #expect(try await sleeper.texts(room) == written)
        // From here on cursors sealed with the old key are invalid.
        cursor = try await pulled(at: 0, nil, servers, by: before.signing).cursor
        for server in RotatedServers.numbers {
            try await servers.restart(server, with: Self.last)
            try await roam(Self.last, "last \(server)")
        }
        for roamer in [ann, bob, sleeper] {
            #expect(roamer.obstacles == [])
            await roamer.chat.store.disconnect()
        }
        try await servers.stop()
        try await database.drop()
    }

    /// The cursor state in the answer to a pull, and the cursor at which the answer begins (the client's own on `ok`).
    private func pulled(
        at server: Int, _ cursor: String?, _ servers: RotatedServers, by secret: String
    ) async throws -> (state: String, cursor: String) {
        var body: Fields = ["scopes": []]
        if let cursor { body["cursor"] = .string(cursor) }
        let token = try await RotatedServers.token("dan", by: secret)
        let answer = try await servers.post("/v1/pull", body.canonicalBytes, at: server, token: token)
        let fields = try JSONReader.read(Array(answer.body)) { try $0.fields() }
        guard case .string(let state)? = fields["state"], case .string(let own)? = fields["cur"] else {
            return ("\(answer.status) \(fields)", "")
        }
        #expect(state != "ok" || own == cursor)
        return (state, own)
    }
}
