import NIOPosix
import Testing
import TidemarkLock
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

/// A client that sends what a test wants and reads the answers.
final class TestClient: Sendable {
    let id: ClientID
    private let connection: NIOWebSocketConnection
    private let frames = Lock<Int64>(0)

    private init(id: ClientID, connection: NIOWebSocketConnection) {
        self.id = id
        self.connection = connection
    }

    /// Opens the socket without sending anything.
    ///
    /// - Parameter trustRootsFile: the certificates to trust, for a server with TLS.
    static func open(
        _ server: TestServer, _ id: UInt64, trustRootsFile: String? = nil
    ) async throws -> TestClient {
        let connection = try await NIOWebSocketClient.connect(
            host: "127.0.0.1", port: server.port, path: "/v1/sync", useTLS: trustRootsFile != nil, headers: [],
            maxMessageBytes: 8 * 1_048_576, group: MultiThreadedEventLoopGroup.singleton,
            trustRootsFile: trustRootsFile)
        return TestClient(id: Sample.id(id), connection: connection)
    }

    /// Opens the socket and sends hello.
    static func greeting(
        _ server: TestServer, as user: String, _ id: UInt64, isNew: Bool = true, counter: Int64 = 1,
        cursor: String? = nil, scopes: [HeldScope] = [], acked: Int64 = 0, app: String? = nil,
        isService: Bool = false, ends: [String] = [], written: Int64? = nil, workspace: String = "w"
    ) async throws -> TestClient {
        let client = try await open(server, id)
        try await client.send(
            .hello(
                Hello(
                    token: try server.token(user, workspace: workspace, isService: isService), client: client.id,
                    isNewClient: isNew,
                    connection: counter, cursor: cursor, scopes: scopes, ackedThrough: acked, app: app,
                    ends: ends, written: written)))
        return client
    }

    /// Opens the socket, sends hello, and reads the welcome and the frame that follows it.
    static func welcomed(
        _ server: TestServer, as user: String, _ id: UInt64, written: Int64? = nil, workspace: String = "w"
    ) async throws -> TestClient {
        let client = try await greeting(
            server, as: user, id, written: written, workspace: workspace)
        _ = try await client.welcome()
        _ = try await client.changes()
        return client
    }

    func send(_ message: ClientMessage) async throws { try await connection.send(message.encode()) }

    func send(_ text: String) async throws { try await connection.send(Array(text.utf8)) }

    func push(from first: Int64, _ transactions: Transaction...) async throws {
        try await send(.push(Push(first: first, ackedThrough: 0, entries: transactions.map { Push.Entry($0) })))
    }

    func next() async throws -> ServerMessage { try ServerMessage.decode(try await connection.receive()) }

    func welcome() async throws -> Welcome {
        let message = try await next()
        guard case .welcome(let welcome) = message else { throw Unexpected(message: message) }
        return welcome
    }

    /// Reads the next message, which must be changes.
    func changes(acknowledging: Bool = true) async throws -> Changes {
        let message = try await next()
        guard case .changes(let changes) = message else { throw Unexpected(message: message) }
        let count = frames.withLock { frames in
            frames += 1
            return frames
        }
        if acknowledging { try await send(.ack(Ack(frames: count))) }
        return changes
    }

    /// Reads the next message, which must be ephemeral.
    func ephemeral() async throws -> Ephemeral {
        let message = try await next()
        guard case .ephemeral(let ephemeral) = message else { throw Unexpected(message: message) }
        return ephemeral
    }

    /// Acknowledges every frame that arrived.
    func acknowledge() async throws { try await send(.ack(Ack(frames: frames.withLock { $0 }))) }

    /// Reads the next message, which must be an error.
    func error() async throws -> ErrorMessage {
        let message = try await next()
        guard case .error(let error) = message else { throw Unexpected(message: message) }
        return error
    }

    /// Reads frames up to the one that settles the client's transactions through `number`.
    func settled(through number: Int64) async throws -> [Changes] {
        var frames: [Changes] = []
        while frames.last?.settled?.through ?? 0 < number { frames.append(try await changes()) }
        return frames
    }

    /// The code with which the server closes the connection, after all messages are read.
    func closeCode() async throws -> UInt16 { try await end().code }

    /// The end of the connection, before which no further message may arrive.
    func endAtOnce() async throws -> TransportClosed {
        do {
            throw Unexpected(message: try await next())
        } catch let closed as TransportClosed {
            return closed
        }
    }

    /// The end of the connection, with code and reason.
    func end() async throws -> TransportClosed {
        do {
            while true { _ = try await connection.receive() }
        } catch let closed as TransportClosed {
            return closed
        }
    }

    func leave() async { await connection.close(code: 1000, reason: "done") }

    struct Unexpected: Error { let message: ServerMessage }
}

extension Changes {
    /// The records of all groups.
    var records: [Change] { groups.flatMap(\.changes) }
}
