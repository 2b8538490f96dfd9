import Foundation
import NIOPosix
import Testing
import Tidemark
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkTerminal

/// Accounts with the real program: the server's flags, the operator's commands, and a user who signs in (R-126, R-130).
@Suite(.timeLimit(.minutes(5))) struct AccountProcessTests {
    private static let phone = "018f3a2b-0000-7000-8000-000000000001"
    private static let export = #"""
        {"users":[{"localId":"fire-7","email":"Fire@Example.com","emailVerified":true,"createdAt":"1600000000000",
        "passwordHash":"lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
        "salt":"42xEC+ixf3L2lw=="},{"localId":"anonymous-1"},{"localId":"google-2","email":"g@example.com"}]}
        """#
    private static let project = #"""
        {"base64_signer_key":"jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
        "base64_salt_separator":"Bw==","rounds":8,"mem_cost":14}
        """#

    @Test func `an operator creates, imports and disables accounts, and users sign in with them`() async throws {
        let folder = try TemporaryFolder("tidemark-tests")
        let (server, admin, port) = try await Self.started(folder)
        func run(_ arguments: String...) async throws -> Binary.Outcome {
            try await Binary.run(["accounts"] + arguments + ["--dev", "--dev-data", folder.path, "--admin", admin])
        }

        let added = try await run("add", "Ann@example.com", "--user", "ann", "--why", "new here")
        #expect(added.status == 0 && added.text.hasPrefix("account made, user ann\n"), "\(added.text)")
        let token = try #require(added.text.split(separator: "\n").last.map(String.init))
        let set = try await Self.call(
            port, "reset", ["reset": token, "password": "correct horse", "client": Self.phone])
        #expect(set.status == 200 && set.text.contains(#""user":"ann""#), "\(set.text)")

        let users = try folder.written("users.json", Self.export)
        let project = try folder.written("hash_config.json", Self.project)
        let brought = try await run("import", users, "--firebase", project)
        #expect(brought.text.contains("left out, without an address: anonymous-1"), "\(brought.text)")
        #expect(brought.status == 0 && brought.text.hasSuffix("2 accounts added, 0 existed already"))
        let again = try await run("import", users, "--firebase", project)
        #expect(again.status == 0 && again.text.hasSuffix("0 accounts added, 2 existed already"))
        let fire = try await Self.call(
            port, "login", ["login": "fire@example.com", "password": "user1password", "client": Self.phone])
        #expect(fire.status == 200 && fire.text.contains(#""user":"fire-7""#), "\(fire.text)")
        let lines = try folder.written(
            "lines.json", "{\"login\":\"bob\",\"user\":\"bob\"}\n\n{\"login\":\"ann@example.com\"}\n")
        #expect(try await run("import", lines).text.hasSuffix("1 account added, 1 existed already"))
        #expect(try await run("import", try folder.written("bad.json", "{\"login\":\"x\"}\n{")).status == 1)

        let list = try await run("list")
        let rows = list.text.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
        #expect(rows.map { $0.first } == ["ann@example.com", "bob", "fire@example.com", "g@example.com"])
        #expect(rows.map { $0.count > 4 ? $0[4] : "" } == ["scrypt", "none", "scrypt", "none"])

        let disabled = try await run("disable", "ann@example.com", "--why", "left")
        #expect(disabled.status == 0 && disabled.text == "disabled, and signed out: user ann", "\(disabled.text)")
        let logIn = ["login": "ann@example.com", "password": "correct horse", "client": Self.phone]
        #expect(try await Self.call(port, "login", logIn).status == 403)
        #expect(try await run("enable", "ann@example.com").status == 0)
        #expect(try await Self.call(port, "login", logIn).status == 200)
        #expect(try await run("reset-password", "ann@example.com").text.contains("tms1."))
        try await Self.useClient(port)
        let missing = try await run("disable", "nobody")
        #expect(missing.status == 1 && missing.text.contains("there is no such account"))
        #expect(try await run("add", "a b").status == 64)

        let audit = try await Binary.run(["audit", "--dev", "--dev-data", folder.path, "--admin", admin])
        #expect(audit.text.contains("\taccount\tdefault\tann\tadd\tnew here\tdone"), "\(audit.text)")
        #expect(audit.text.contains("\taccount\tdefault\tann\tdisable\tleft\tdone"))
        server.signal(SIGTERM)
        #expect(await server.ended() == 0)
    }

    /// Signs in with the SDK, with one lost answer.
    private static func useClient(_ port: Int) async throws {
        let keeper = Keeper()
        let losses = Lock(0)
        let client = AccountClient(storage: keeper) { path, body in
            let answer = try await NIOHTTPClient.request(
                method: "POST", host: "127.0.0.1", port: port, path: path, useTLS: false, headers: [],
                body: Array(body), group: MultiThreadedEventLoopGroup.singleton)
            let isLost = losses.withLock { losses in
                losses -= 1
                return losses >= 0
            }
            if isLost { throw Lost() }
            return (answer.status, Data(answer.body))
        }
        let device = UUID()
        await #expect(throws: AccountFailure.rejected) {
            try await client.logIn("ann@example.com", password: "wrong horse", client: device)
        }
        let user = try await client.logIn("ann@example.com", password: "correct horse", client: device)
        #expect(user == UserID("ann"))
        losses.withLock { $0 = 2 }
        for _ in 0..<2 { await #expect(throws: Lost.self) { try await client.token() } }
        for _ in 0..<2 {
            let token = try await client.token()
            let answer = try await NIOHTTPClient.request(
                method: "GET", host: "127.0.0.1", port: port, path: "/v1/clients", useTLS: false,
                headers: [("Authorization", "Bearer \(token)")], body: [], group: MultiThreadedEventLoopGroup.singleton)
            #expect(answer.status == 200)
        }
        try await client.logOut()
        await #expect(throws: AccountFailure.signedOut) { try await client.token() }
    }

    private struct Lost: Error {}

    private final class Keeper: SignInStorage {
        private let kept = Lock<StoredSignIn?>(nil)

        func load() async throws -> StoredSignIn? { kept.withLock { $0 } }
        func save(_ signIn: StoredSignIn?) async throws { kept.withLock { $0 = signIn } }
    }

    private static func call(_ port: Int, _ path: String, _ members: [String: String]) async throws -> (
        status: Int, text: String
    ) {
        var body = Fields()
        for (name, value) in members { body[name] = .string(value) }
        let answer = try await NIOHTTPClient.request(
            method: "POST", host: "127.0.0.1", port: port, path: "/v1/accounts/\(path)", useTLS: false, headers: [],
            body: body.canonicalBytes, group: MultiThreadedEventLoopGroup.singleton)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    private static func started(
        _ folder: TemporaryFolder
    ) async throws -> (process: ChildProcess, admin: String, port: Int) {
        let server = try ChildProcess(
            try Binary.path,
            [
                "serve", "--dev", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--database",
                "sqlite:\(folder.path)/t.sqlite", "--accounts", "--limit", "PASSWORD_COST=14",
            ], environment: [:])
        var (admin, port): (String?, Int?)
        for await line in server.lines {
            if line.contains("Operators are listened to"), let port = line.lastPort {
                admin = "http://127.0.0.1:\(port)"
            }
            if line.contains("tidemark listening on"), let own = line.lastPort { port = own }
            if admin != nil, port != nil { break }
        }
        return (server, try #require(admin), try #require(port))
    }
}

extension String {
    /// The number after the last `127.0.0.1:`.
    fileprivate var lastPort: Int? {
        components(separatedBy: "127.0.0.1:").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
}

extension TemporaryFolder {
    fileprivate func written(_ name: String, _ text: String) throws -> String {
        let path = "\(self.path)/\(name)"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
