import Foundation
import TidemarkAssembly
import TidemarkChat

/// A `tidemark serve` of our own, as a process that can be killed.
final class ServerProcess: Sendable {
    /// The settings of the process.
    struct Settings: Sendable {
        /// The program's file; `nil` is the `tidemark` beside this program.
        var program: String?
        var database: String
        /// The schema's file.
        var schema: String
        var listen = "127.0.0.1:0"
        /// The signing secret as text, passed by the environment, where no list of processes shows it.
        var secret: String
        var logLevel = "warning"
        /// Further settings, such as limits.
        var environment: [String: String] = [:]
    }

    /// The longest time from the start to the line with the address; a large log may have to be replayed first.
    static let startMax: Duration = .seconds(30)
    /// The longest time from the request to stop to the end of the process.
    static let stopMax: Duration = .seconds(20)

    let address: ListenAddress
    private let child: ChildProcess

    private init(_ child: ChildProcess, _ address: ListenAddress) {
        self.child = child
        self.address = address
    }

    var processID: pid_t { child.processID }
    var isRunning: Bool { child.isRunning }

    /// Starts a server and returns when it listens.
    ///
    /// - Throws: `ServerProcessError` with the server's last output.
    static func start(_ settings: Settings) async throws -> ServerProcess {
        let child = try ChildProcess(
            try settings.program ?? builtBeside,
            [
                "serve", "--database", settings.database, "--schema", settings.schema, "--listen", settings.listen,
                "--log-level", settings.logLevel,
            ], environment: settings.environment.merging(["TIDEMARK_SECRET": settings.secret]) { _, secret in secret })
        do {
            let address: ListenAddress = try await withTimeout(startMax, "the server did not start") {
                try await Self.address(child)
            }
            return ServerProcess(child, address)
        } catch {
            child.signal(SIGKILL)
            throw error
        }
    }

    /// Writes the chat's schema into a folder and returns the path of its file.
    static func chatSchema(in folder: String) throws -> String {
        let file = URL(fileURLWithPath: folder).appending(path: "chat.schema.json")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(ChatSchema.document).write(to: file)
        return file.path
    }

    /// Ends it at once, as a power cut of the process would.
    func kill() async {
        child.signal(SIGKILL)
        _ = await child.ended()
    }

    /// Asks it to stop, waits, and returns the exit status.
    func stop() async throws -> Int32 {
        child.signal(SIGTERM)
        do {
            return try await withTimeout(Self.stopMax, "the server did not stop") { [child] in await child.ended() }
        } catch {
            child.signal(SIGKILL)
            throw error
        }
    }

    /// The path of this program.
    static var executablePath: String {
        // Linux's link survives a move of the file; other systems have none.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? Bundle.main.executablePath
            ?? CommandLine.arguments[0]
    }

    private static var builtBeside: String {
        get throws {
            let path = URL(fileURLWithPath: executablePath).deletingLastPathComponent().appending(path: "tidemark").path
            guard FileManager.default.isExecutableFile(atPath: path) else {
                throw ServerProcessError(
                    "there is no server to start: put 'tidemark' beside this program, as \(path) ('swift build --product "
                        + "tidemark' makes it)")
            }
            return path
        }
    }

    private static func address(_ child: ChildProcess) async throws -> ListenAddress {
        var said: [String] = []
        for await line in child.lines {
            if let address = ListenAddress(announcedIn: line) { return address }
            said = said.suffix(9) + [line]
        }
        throw ServerProcessError("the server ended before it listened: " + said.joined(separator: "\n"))
    }
}

/// The error of a server of our own that did not do as asked.
struct ServerProcessError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Runs `body`, but not longer than `limit`.
///
/// - Throws: any error of `body`, or `ServerProcessError` with `complaint`.
func withTimeout<Value: Sendable>(
    _ limit: Duration, _ complaint: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await ContinuousClock().sleep(for: limit)
            throw ServerProcessError("\(complaint) within \(limit)")
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw CancellationError() }
        return first
    }
}
