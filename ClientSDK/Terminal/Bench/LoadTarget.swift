import Foundation
import NIOCore
import NIOPosix
import Tidemark
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity
import TidemarkModel
import TidemarkNIOTransport
import TidemarkWire

/// The server of a benchmark, with the means to act as any user there.
final class LoadTarget: Sendable {
    let ground: LoadGround
    /// A new workspace for every run, so that a database can be used again.
    let workspace: WorkspaceID
    /// The server process whose memory is read; `nil` for a server elsewhere.
    let processID: pid_t?

    private let issuer: TokenIssuer
    private let settings: ServerProcess.Settings?
    private let server: ServerProcess?
    private let folder: TemporaryFolder?

    private init(
        ground: LoadGround, workspace: WorkspaceID, issuer: TokenIssuer, processID: pid_t?,
        settings: ServerProcess.Settings?, server: ServerProcess?, folder: TemporaryFolder?
    ) {
        self.ground = ground
        self.workspace = workspace
        self.issuer = issuer
        self.processID = processID
        self.settings = settings
        self.server = server
        self.folder = folder
    }

    /// Starts a server for the benchmark, or uses the one that the options name.
    static func prepare(_ options: BenchTargetOptions) async throws -> LoadTarget {
        // One socket is one file; the server that we start inherits the limit.
        _ = OpenFiles.raise()
        let workspace = WorkspaceID("bench-\(wallClock())")
        if let secure = options.secureServer {
            let door = try await TLSDoor.open(
                to: secure.host, port: secure.port, trustRootsFile: options.trust.trust,
                group: MultiThreadedEventLoopGroup.singleton)
            return try await named(ListenAddress(host: "127.0.0.1", port: door.port), options, workspace)
        }
        if let text = options.server {
            guard let address = ListenAddress(announcedIn: text) else {
                throw BenchError("--server: \(text) is not http://host:port")
            }
            return try await named(address, options, workspace)
        }
        let folder = try TemporaryFolder("tidemark-bench")
        let (secret, text) = try TokenSecret.random()
        var settings = ServerProcess.Settings(
            database: options.database ?? "sqlite:\(folder.path)/bench.sqlite",
            schema: try ServerProcess.chatSchema(in: folder.path), secret: text)
        // The benchmark measures the machine, not the limits that protect a server from one client.
        settings.environment = [
            "TIDEMARK_LIMIT_RATE": "1000000", "TIDEMARK_LIMIT_BURST": "10000000", "TIDEMARK_LIMIT_PUSHES": "1000",
        ]
        let server = try await ServerProcess.start(settings)
        return LoadTarget(
            ground: try LoadGround(address: server.address), workspace: workspace,
            issuer: await TokenIssuer(secret: secret, now: wallClock),
            processID: server.processID, settings: settings, server: server, folder: folder)
    }

    /// Connects to a server that is already running.
    private static func named(
        _ address: ListenAddress, _ options: BenchTargetOptions, _ workspace: WorkspaceID
    ) async throws -> LoadTarget {
        LoadTarget(
            ground: try LoadGround(address: address), workspace: workspace,
            issuer: await TokenIssuer(secret: try options.signing.secret(), now: wallClock),
            processID: options.serverProcess, settings: nil, server: nil, folder: nil)
    }

    /// Returns the same workspace on a server that was restarted, with nothing in memory; the target itself when the
    /// server is not ours.
    func restarted() async throws -> LoadTarget {
        guard var settings, let server, let secret = TokenSecret(Array(settings.secret.utf8)) else { return self }
        _ = try await server.stop()
        settings.listen = server.address.description
        let again = try await ServerProcess.start(settings)
        return LoadTarget(
            ground: try LoadGround(address: again.address), workspace: workspace,
            issuer: await TokenIssuer(secret: secret, now: wallClock),
            processID: again.processID, settings: settings, server: again, folder: folder)
    }

    /// Stops the server if it is ours.
    func end() async throws { _ = try await server?.stop() }

    /// Returns the first message of a client that was never connected.
    func hello(_ user: String, cursor: String? = nil, scopes: [HeldScope] = []) throws -> Hello {
        try hello(user, client: Self.newClient(), isNew: true, connection: 1, cursor: cursor, scopes: scopes)
    }

    /// Returns the first message of a client.
    func hello(
        _ user: String, client: ClientID, isNew: Bool, connection: Int64, cursor: String? = nil,
        scopes: [HeldScope] = []
    ) throws -> Hello {
        return Hello(
            token: try token(for: user), client: client, isNewClient: isNew, connection: connection, cursor: cursor,
            scopes: scopes,
            app: "tide bench")
    }

    /// Returns the token with which a user connects.
    func token(for user: String) throws -> String {
        try issuer.issue(user: user, workspace: workspace.text, lifetime: .seconds(3_600))
    }

    /// Returns a client id that was never used.
    static func newClient() -> ClientID {
        UniqueID.version7(milliseconds: wallClock(), random: (.random(in: 0 ... .max), .random(in: 0 ... .max)))
    }

    /// Returns the bytes of memory that the server occupies.
    func serverMemory() throws -> Int {
        guard let processID else { throw BenchError("give --server-process with --server: its memory is measured") }
        guard let bytes = ResidentMemory.bytes(of: "\(processID)") else {
            throw BenchError("no process \(processID) whose memory the system reports; only Linux does, in /proc")
        }
        return bytes
    }

}

extension TokenSecret {
    /// Returns a new secret, with its text for `TIDEMARK_SECRET`.
    static func random() throws -> (secret: TokenSecret, text: String) {
        let text =
            (0..<4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
            + "0123456789abcdef0123456789abcdef"
        guard let secret = TokenSecret(Array(text.utf8)) else { throw BenchError("a random secret is too short") }
        return (secret, text)
    }
}
