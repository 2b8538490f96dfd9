import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing
import TidemarkHub
import TidemarkModel
import TidemarkNIOTransport
import TidemarkStore
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkIdentity
@testable import TidemarkNode

/// A whole server on a port of its own, for the length of a closure.
struct TestServer: Sendable {
    static let secret = "a secret of the test suite, long enough for HS256"

    /// The chat's.
    static let schemaFile = URL(filePath: #filePath)
        .appending(path: "../../../../ClientSDK/ChatSchema/chat.schema.json").standardizedFileURL.path

    /// Two loops on any machine. They outlive every server: handlers of its last connections may still end on them.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    let port: Int
    let node: Node
    /// Tokens that were refused, by label.
    let refusals: RefusalCounts
    private let services: ServiceGroup
    private let issuer: TokenIssuer
    private let tokens: TokenSecret

    /// For tests of a rate: what was used up does not come back, however long the test takes.
    static let refillsNothing: @Sendable (inout ServerLimits) -> Void = { $0.wire.transactionsPerSecond = 0 }

    /// Runs `body` against a server over `store`, on two event loops, then stops it.
    ///
    /// - Parameters:
    ///   - schema: the chat's when there is none.
    ///   - limits: as in the environment, without the prefix.
    ///   - more: settings besides.
    ///   - log: gets what the server logs; else critical lines go to standard error.
    ///   - change: the last word on the limits.
    static func running(
        over store: OpenedStore = OpenedStore(InMemoryStore()), schema: Schema? = nil, limits: [String: String] = [:],
        environment more: [String: String] = [:], surroundings: ServerAssembly.Surroundings = .init(),
        log: LogCapture? = nil,
        change: (inout ServerLimits) -> Void = { _ in },
        _ body: @Sendable (TestServer) async throws -> Void
    ) async throws {
        var environment = [
            "TIDEMARK_SECRET": secret, "TIDEMARK_LISTEN": "127.0.0.1:0", "TIDEMARK_SCHEMA": schemaFile,
        ]
        environment.merge(more) { $1 }
        for (name, value) in limits { environment[LimitSetting.prefix + name] = value }
        var configuration = try ServerConfiguration(environment: environment)
        change(&configuration.limits)
        var logger = Logger(label: "test") { label in
            if let log { return log }
            return StreamLogHandler.standardError(label: label)
        }
        if log == nil { logger.logLevel = .critical }
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let given = try await store.schema(for: configuration, now: 1, logger: Logger(label: "test"))
        let inForce = schema.map { SchemaInForce($0, revision: given.revision) } ?? given
        let server = try await ServerAssembly(
            configuration, inForce: inForce, store: store, eventLoops: loops, surroundings: surroundings, logger: logger
        ) { port in
            listening.yield(port)
        }
        let tokens = try #require(configuration.secret).tokens
        let services = ServiceGroup(configuration: .init(services: server.services, logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            for await port in ports {
                let issuer = await TokenIssuer(secret: tokens, now: ServerAssembly.Surroundings().now)
                try await body(
                    TestServer(
                        port: port, node: server.node, refusals: server.refusals, services: services, issuer: issuer,
                        tokens: tokens))
                break
            }
            await services.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    func token(
        _ user: String, workspace: String = "w", isService: Bool = false, isOperator: Bool = false,
        lifetime: Duration = .seconds(3_600)
    ) throws -> String {
        try issuer.issue(
            user: user, workspace: workspace, lifetime: lifetime, isService: isService, isOperator: isOperator)
    }

    /// A token of an hour that ended so long ago.
    func expiredToken(_ user: String, since age: Duration) async throws -> String {
        let past = Int64((age + .seconds(3_600)) / .milliseconds(1))
        let issuer = await TokenIssuer(secret: tokens) { ServerAssembly.Surroundings().now() - past }
        return try issuer.issue(user: user, workspace: "w", lifetime: .seconds(3_600))
    }

    /// Pulls that wait.
    var watchers: Int { node.feeds.all.map(\.watcherCount).reduce(0, +) }

    /// Calls of known users in progress.
    var calls: Int { node.connectionCounts.calls }

    /// Begins a graceful shutdown and returns before it is over.
    func stop() async { await services.triggerGracefulShutdown() }

    /// One call over HTTP with a body. `user` of `nil` sends no token.
    func post(
        _ path: String, as user: String? = nil, body: String = "", headers: [(String, String)] = []
    ) async throws -> NIOHTTPAnswer {
        try await call("POST", path, as: user, body: body, headers: headers)
    }

    /// One call over HTTP.
    func call(
        _ method: String, _ path: String, as user: String? = nil, body: String = "",
        headers: [(String, String)] = []
    ) async throws -> NIOHTTPAnswer {
        var headers = headers
        if let user { headers.append(("Authorization", "Bearer \(try token(user))")) }
        return try await NIOHTTPClient.request(
            method: method, host: "127.0.0.1", port: port, path: path, useTLS: false, headers: headers,
            body: Array(body.utf8), group: MultiThreadedEventLoopGroup.singleton)
    }
}

extension NIOHTTPAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }
}
