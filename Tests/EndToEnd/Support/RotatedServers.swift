import Foundation
import NIOPosix
import TidemarkModel
import TidemarkNIOTransport

@testable import TidemarkAssembly
@testable import TidemarkCommandLine
@testable import TidemarkIdentity
@testable import TidemarkTerminal

/// Two servers on one database whose keys are changed one server after the other.
actor RotatedServers {
    /// Keys, one a line; the first signs or seals.
    struct Keys: Sendable {
        var secrets: [String]
        var cursors: [String]

        var signing: String { secrets[0] }
    }

    static let workspace = LiveServer.workspace.text
    private var settings: [ServerProcess.Settings]
    private var processes: [ServerProcess]

    init(_ keys: Keys, on database: String, in folder: String) async throws {
        var first = ServerProcess.Settings(
            database: database, schema: try ServerProcess.chatSchema(in: folder), secret: "")
        first.program = try Binary.path
        settings = []
        processes = []
        for _ in 0..<2 {
            var own = Self.with(keys, first)
            let process = try await ServerProcess.start(own)
            own.listen = process.address.description
            settings.append(own)
            processes.append(process)
        }
    }

    private static func with(_ keys: Keys, _ settings: ServerProcess.Settings) -> ServerProcess.Settings {
        var settings = settings
        settings.secret = keys.secrets.joined(separator: "\n")
        settings.environment = [
            "TIDEMARK_CURSOR_KEY": keys.cursors.joined(separator: "\n"), "TIDEMARK_ACCOUNTS": "1",
            "TIDEMARK_ACCOUNTS_WORKSPACES": workspace, "TIDEMARK_ACCOUNTS_REGISTER": "open",
            "TIDEMARK_LIMIT_PASSWORD_COST": "14", "TIDEMARK_LIMIT_RATE": "10000",
        ]
        return settings
    }

    /// Stops one server, and starts it with these keys at the same address.
    func restart(_ number: Int, with keys: Keys) async throws {
        _ = try await processes[number].stop()
        settings[number] = Self.with(keys, settings[number])
        processes[number] = try await ServerProcess.start(settings[number])
    }

    func stop() async throws { for process in processes { _ = try await process.stop() } }

    static let numbers = [0, 1]

    func url(_ number: Int) -> String { "http://\(settings[number].listen)" }

    /// Makes a call with a JSON body.
    func post(
        _ path: String, _ body: [UInt8], at number: Int, token: String? = nil
    ) async throws -> (status: Int, body: Data) {
        let address = processes[number].address
        let answer = try await NIOHTTPClient.request(
            method: "POST", host: address.host, port: address.port, path: path, useTLS: false,
            headers: token.map { [("Authorization", "Bearer \($0)")] } ?? [], body: body,
            group: MultiThreadedEventLoopGroup.singleton)
        return (answer.status, Data(answer.body))
    }

    /// A token as a backend with the secret makes it.
    static func token(_ user: String, by secret: String) async throws -> String {
        let secret = try ServerSecret(Array(secret.utf8), from: .secret)
        return try await TokenIssuer(secret: secret.tokens, now: wallClock)
            .issue(user: user, workspace: workspace, lifetime: .seconds(3_600))
    }
}
