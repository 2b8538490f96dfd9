import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkNode
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly

/// A new password for a user who has forgotten theirs, by the operator's program (R-131).
@Suite(.timeLimit(.minutes(5))) struct ResetHookTests {
    private static let secret = "a secret of the hook, of the test suite alone"
    private static let phone = "\(Sample.id(1))"

    /// The notification that the program received.
    private struct Told: Sendable {
        let fields: HTTPFields
        let body: String

        func member(_ name: String) throws -> String? {
            try JSONReader.read(Array(body.utf8)) { try $0.fields() }.text(name)
        }
    }

    private struct Hearing: Sendable {
        let calls: AsyncStream<Told>

        func next() async -> Told? {
            var iterator = calls.makeAsyncIterator()
            return await iterator.next()
        }
    }

    /// Runs a server with a program that answers with this status.
    private func running(
        status: Int = 204, log: LogCapture? = nil, change: @Sendable (inout ServerLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (TestServer, Hearing) async throws -> Void
    ) async throws {
        let (calls, hearing) = AsyncStream.makeStream(of: Told.self)
        let router = Router()
        router.post("/hook") { request, _ -> Response in
            let bytes = try await request.body.collect(upTo: 10_000)
            hearing.yield(Told(fields: request.headers, body: String(buffer: bytes)))
            return Response(status: .init(code: status))
        }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let program = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in listening.yield(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), logger: logger)
        let services = ServiceGroup(configuration: .init(services: [program], logger: logger))
        let file = FileManager.default.temporaryDirectory.appending(path: "hook-\(UUID().uuidString)")
        try Data(Self.secret.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            let environment = [
                "TIDEMARK_ACCOUNTS_RESET_HOOK": "http://127.0.0.1:\(port)/hook",
                "TIDEMARK_ACCOUNTS_HOOK_SECRET_FILE": file.path,
            ]
            try await TestServer.withAccounts(environment: environment, log: log, change: change) { server in
                try await body(server, Hearing(calls: calls))
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    @Test func `the program receives a signed token for the account, and the caller learns nothing`() async throws {
        try await running { server, told in
            let ann = try await server.registered("ann@example.com")
            let phone = try await server.connected(ann)
            var answers: Set<String> = []
            for login in ["nobody@example.com", "Ann@example.com"] {
                let answer = try await server.account("reset", ["login": login])
                answers.insert("\(answer.status) \(answer.text)")
            }
            #expect(answers == [#"202 {"ok":true}"#])
            // Requests are handled in order: the one for the unknown login came first, and caused no call.
            let call = try #require(await told.next())
            #expect(try call.member("login") == "ann@example.com" && call.member("user") == ann.user)
            #expect(try call.member("workspace") == "w" && call.member("type") == "account.reset")
            let name = try #require(HTTPField.Name("webhook-id"))
            let (time, code) = (
                try #require(HTTPField.Name("webhook-timestamp")), try #require(HTTPField.Name("webhook-signature"))
            )
            let signed = "\(call.fields[name] ?? "").\(call.fields[time] ?? "").\(call.body)"
            let expected = HMAC<SHA256>.authenticationCode(
                for: Data(signed.utf8), using: SymmetricKey(data: Data(Self.secret.utf8)))
            #expect(call.fields[code] == "v1,\(Data(expected).base64EncodedString())")
            // Until the token is used, nothing has changed.
            _ = try await server.signedIn("refresh", ["refresh": ann.refresh])
            let token = try #require(try call.member("token"))
            let members = ["reset": token, "password": "another horse", "client": Self.phone]
            let back = try await server.signedIn("reset", members)
            #expect(back.user == ann.user)
            #expect(try await phone.closeCode() == 4403)
            #expect(try await server.account("reset", members).status == 401)
            #expect(try await server.hello(back.token, 1) == "welcome")
        }
    }

    @Test func `an old token has expired`() async throws {
        try await running(change: { $0.accounts.resetLifetime = -1 }) { server, told in
            _ = try await server.registered("ann")
            #expect(try await server.account("reset", ["login": "ann"]).status == 202)
            let token = try #require(try await told.next()?.member("token"))
            let members = ["reset": token, "password": "another horse", "client": Self.phone]
            #expect(try await server.account("reset", members).status == 401)
        }
    }

    @Test func `endless requests fill no mailbox`() async throws {
        try await running { server, told in
            _ = try await server.registered("ann")
            var statuses: [Int] = []
            for _ in 0..<8 { statuses.append(try await server.account("reset", ["login": "ann"]).status) }
            let burst = AccountRates().resetByAccount.burst
            #expect(statuses == Array(repeating: 202, count: burst) + Array(repeating: 429, count: 8 - burst))
            var tokens: Set<String> = []
            for _ in 0..<burst { tokens.insert(try #require(try await told.next()?.member("token"))) }
            #expect(tokens.count == burst)
        }
    }

    @Test func `a program that accepts nothing is reported in the log, without the token`() async throws {
        let log = LogCapture()
        try await running(status: 500, log: log) { server, told in
            _ = try await server.registered("ann")
            #expect(try await server.account("reset", ["login": "ann"]).status == 202)
            let token = try #require(try await told.next()?.member("token"))
            try await eventually { log.lines.contains { $0.contains("Could not deliver a reset token") } }
            #expect(!log.lines.contains { $0.contains(token) || $0.contains("ann") && $0.contains("deliver") })
        }
    }
}
