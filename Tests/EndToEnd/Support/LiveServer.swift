import Foundation
import NIOPosix
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

@testable import TidemarkAssembly
@testable import TidemarkCommandLine
@testable import TidemarkTerminal

/// A server process with a database of its own, and clients of any user for it.
struct LiveServer: Sendable {
    static let workspace = WorkspaceID("tests")

    let folder: TemporaryFolder
    let issuer: TokenIssuer
    let settings: ServerProcess.Settings
    let process: ServerProcess

    var address: ListenAddress { process.address }
    var database: String { settings.database }

    /// - Parameters:
    ///   - schema: the schema's file, the chat's by default.
    ///   - database: a PostgreSQL that may be shared; a file of its own by default.
    ///   - limits: further settings in the environment.
    static func start(
        schema: String? = nil, database: String? = nil, limits: [String: String] = [:]
    ) async throws -> LiveServer {
        let folder = try TemporaryFolder("tidemark-tests")
        let (secret, text) = try TokenSecret.random()
        var settings = ServerProcess.Settings(
            database: database ?? "sqlite:\(folder.path)/server.sqlite",
            schema: try schema ?? ServerProcess.chatSchema(in: folder.path), secret: text)
        settings.program = try Binary.path
        settings.environment = ["TIDEMARK_LIMIT_RATE": "100000", "TIDEMARK_LIMIT_BURST": "100000"]
        settings.environment.merge(limits) { _, given in given }
        let process = try await ServerProcess.start(settings)
        settings.listen = process.address.description
        return LiveServer(
            folder: folder, issuer: await TokenIssuer(secret: secret, now: wallClock), settings: settings,
            process: process)
    }

    /// Starts the same server after a SIGKILL.
    func killedAndStarted() async throws -> LiveServer {
        await process.kill()
        return try await started()
    }

    /// Starts the same server again, after the end of its process.
    func started() async throws -> LiveServer {
        LiveServer(
            folder: folder, issuer: issuer, settings: settings, process: try await ServerProcess.start(settings))
    }

    /// Starts another server on the same database, with the same secret.
    func another() async throws -> LiveServer {
        var settings = settings
        settings.listen = "127.0.0.1:0"
        let process = try await ServerProcess.start(settings)
        return LiveServer(folder: folder, issuer: issuer, settings: settings, process: process)
    }

    /// A file with the secret, for commands.
    func secretFile() throws -> String {
        let path = "\(folder.path)/secret"
        try settings.secret.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    func token(_ user: String) throws -> String {
        try token(user, in: Self.workspace.text)
    }

    func token(_ user: String, in workspace: String) throws -> String {
        try issuer.issue(user: user, workspace: workspace, lifetime: .seconds(3_600))
    }

    /// The conversations in the database, read with the server stopped.
    func truth(_ conversations: [LocalID]) async throws -> ServerTruth {
        try await ServerTruth.read(conversations, in: Self.workspace, database: database)
    }
}

/// One client with the raw protocol, connection by connection.
struct RawClient: Sendable {
    let server: LiveServer
    let user: String
    let id: ClientID

    init(_ server: LiveServer, user: String, id: ClientID = LoadTarget.newClient()) {
        self.server = server
        self.user = user
        self.id = id
    }

    /// Opens a socket and sends hello. Repeats that up to four times if the hello came later than the server waits,
    /// since all tests share few threads.
    func connect(_ connection: Int64, isNew: Bool = false) async throws -> (RawConnection, Welcome) {
        for _ in 0..<4 {
            do {
                return try await greet(connection, isNew: isNew)
            } catch let end as TransportClosed where end.code == CloseCode.timeout.rawValue {
                continue
            }
        }
        return try await greet(connection, isNew: isNew)
    }

    private func greet(_ connection: Int64, isNew: Bool) async throws -> (RawConnection, Welcome) {
        let socket = try await NIOWebSocketClient.connect(
            host: server.address.host, port: server.address.port, path: "/v1/sync", useTLS: false, headers: [],
            maxMessageBytes: 4 << 20, group: MultiThreadedEventLoopGroup.singleton)
        let hello = Hello(token: try server.token(user), client: id, isNewClient: isNew, connection: connection)
        try await socket.sendOrTellEnd(ClientMessage.hello(hello).encode())
        guard case .welcome(let welcome) = try ServerMessage.decode(try await socket.receive()) else {
            throw BenchError("no welcome")
        }
        return (RawConnection(socket: socket), welcome)
    }

    /// `POST /v1/push`.
    func post(_ push: Push, connection: Int64) async throws -> NIOHTTPAnswer {
        try await NIOHTTPClient.request(
            method: "POST", host: server.address.host, port: server.address.port, path: "/v1/push", useTLS: false,
            headers: [
                ("Authorization", "Bearer \(try server.token(user))"), ("Content-Type", "application/json"),
            ],
            body: PushCall(client: id, connection: connection, push: push).encode(),
            group: MultiThreadedEventLoopGroup.singleton)
    }
}

/// One open socket. It is cut, without a close frame, with the last reference.
struct RawConnection: Sendable {
    let socket: NIOWebSocketConnection

    func push(_ push: Push) async throws { try await socket.sendOrTellEnd(ClientMessage.push(push).encode()) }

    /// Reads frames until the client's transactions are settled through `number`; returns the outcomes on the way.
    func settled(through number: Int64) async throws -> [TransactionOutcome] {
        var outcomes: [TransactionOutcome] = []
        while true {
            switch try ServerMessage.decode(try await socket.receive()) {
            case .changes(let changes):
                outcomes += changes.settled?.outcomes ?? []
                if let through = changes.settled?.through, through >= number { return outcomes }
            case .error(let error): throw BenchError("\(error)")
            default: break
            }
        }
    }
}

extension NIOWebSocketConnection {
    /// Sends a message; on a connection that has ended, the error gives the reason.
    fileprivate func sendOrTellEnd(_ bytes: [UInt8]) async throws {
        do {
            try await send(bytes)
        } catch {
            while true { _ = try await receive() }
        }
    }
}

extension Transaction {
    /// A transaction that opens a conversation for the users.
    static func opening(_ id: LocalID, _ users: [String]) -> Transaction {
        let fields: Fields = [
            "kind": "group", "name": "tests", "participantIds": .array(users.map { .string($0) }),
        ]
        return Transaction(
            id: LoadTarget.newClient(),
            mutations: [Mutation(key: RecordKey(collection: "conversations", id: id), action: .create(fields))],
            clientTime: wallClock())
    }

    /// A transaction with message number `order`.
    static func saying(_ order: Int64, in conversation: LocalID) -> Transaction {
        let fields: Fields = [
            "conversationId": .string(conversation.description), "sentAt": .integer(order), "text": .string("\(order)"),
        ]
        return Transaction(
            id: LoadTarget.newClient(),
            mutations: [
                Mutation(
                    key: RecordKey(collection: "messages", id: LoadTarget.newClient()), action: .create(fields))
            ], clientTime: wallClock())
    }
}
