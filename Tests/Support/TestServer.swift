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

    /// The file of the chat's schema.
    static let schemaFile = URL(filePath: #filePath)
        .appending(path: "../../../../ClientSDK/ChatSchema/chat.schema.json").standardizedFileURL.path

    /// Two loops on any machine. They outlive every server: handlers of its last connections may still end on them.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    let port: Int
    /// The port of the operators' listener; `nil` unless the environment asks for one.
    let adminPort: Int?
    let node: Node
    /// The number of refused tokens, by label.
    let refusals: RefusalCounts
    private let services: ServiceGroup
    private let issuer: TokenIssuer
    private let tokens: TokenSecret

    /// For tests of a rate: it is not refilled, however long the test runs.
    static let refillsNothing: @Sendable (inout ServerLimits) -> Void = { $0.wire.transactionsPerSecond = 0 }

    /// Runs `body` against a server over `store`, on two event loops, then stops it.
    ///
    /// - Parameters:
    ///   - schema: the schema, the chat's by default.
    ///   - limits: limits as in the environment, without the prefix.
    ///   - more: further settings.
    ///   - log: receives the server's log; by default critical lines are written to standard error.
    ///   - change: a last change of the limits.
    static func running(
        over store: OpenedStore = OpenedStore(inMemory: InMemoryStore()), schema: Schema? = nil,
        limits: [String: String] = [:],
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
        let (ports, listening) = AsyncStream.makeStream(of: (isAdmin: Bool, port: Int).self)
        let given = try await store.schema(for: configuration, now: 1, logger: Logger(label: "test"))
        let inForce = schema.map { SchemaInForce($0, revision: given.revision) } ?? given
        let server = try await ServerAssembly(
            configuration, inForce: inForce, store: store, eventLoops: loops, surroundings: surroundings,
            logger: logger,
            onAdminListening: { listening.yield((true, $0)) }, onListening: { listening.yield((false, $0)) })
        let tokens = try #require(configuration.secret).tokens
        let services = ServiceGroup(configuration: .init(services: server.services, logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                try await services.run()
            }
            let hasAdmin = configuration.adminListen != nil
            var open: [Bool: Int] = [:]
            for await listener in ports {
                open[listener.isAdmin] = listener.port
                guard let port = open[false], !hasAdmin || open[true] != nil else { continue }
                let issuer = await TokenIssuer(secret: tokens, now: ServerAssembly.Surroundings().now)
                try await body(
                    TestServer(
                        port: port, adminPort: open[true], node: server.node, refusals: server.refusals,
                        services: services, issuer: issuer,
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

    /// A token of one hour that expired that long ago.
    func expiredToken(_ user: String, since age: Duration) async throws -> String {
        let past = Int64((age + .seconds(3_600)) / .milliseconds(1))
        let issuer = await TokenIssuer(secret: tokens) { ServerAssembly.Surroundings().now() - past }
        return try issuer.issue(user: user, workspace: "w", lifetime: .seconds(3_600))
    }

    /// The number of waiting pulls.
    var watchers: Int { node.feeds.all.map(\.watcherCount).reduce(0, +) }

    /// The number of calls of known users in progress.
    var calls: Int { node.connectionCounts.calls }

    /// Begins a graceful shutdown and returns before it ends.
    func stop() async { await services.triggerGracefulShutdown() }

    /// Makes one call over HTTP with a body. `user` of `nil` sends no token.
    func post(
        _ path: String, as user: String? = nil, body: String = "", headers: [(String, String)] = []
    ) async throws -> NIOHTTPAnswer {
        try await call("POST", path, as: user, body: body, headers: headers)
    }

    /// Makes one call over HTTP.
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

extension OpenedStore {
    /// A database in memory.
    init(inMemory store: InMemoryStore) {
        self.init(
            store, operating: store, blobs: InMemoryBlobStore(beside: store), schemas: InMemorySchemaStore())
    }
}
