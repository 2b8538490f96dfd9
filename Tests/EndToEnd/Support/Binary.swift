import Foundation

@testable import TidemarkTerminal

/// The programs that were built with these tests.
enum Binary {
    /// The server's program; the device's is `tide`.
    static var path: String { get throws { try path(of: "tidemark") } }

    /// A path in the build folder, beside the program that runs the tests.
    static func path(of program: String) throws -> String {
        if program == "tidemark", let path = ProcessInfo.processInfo.environment["TIDEMARK_BINARY"] { return path }
        var folder = URL(fileURLWithPath: ServerProcess.executablePath).deletingLastPathComponent()
        for argument in CommandLine.arguments {
            // A file on Linux; on a Mac a folder that contains the program.
            guard let end = argument.range(of: ".xctest")?.upperBound else { continue }
            folder = URL(fileURLWithPath: String(argument[..<end])).deletingLastPathComponent()
        }
        let binary = folder.appendingPathComponent(program).path
        guard FileManager.default.isExecutableFile(atPath: binary) else { throw Missing(path: binary) }
        return binary
    }

    struct Missing: Error {
        let path: String
    }

    /// The result of a run of the program.
    struct Outcome: Sendable {
        let status: Int32
        /// Standard output and standard error.
        let text: String
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: [String], of program: String = "tidemark", environment: [String: String] = [:],
        atMost limit: Duration = .seconds(60)
    ) async throws -> Outcome {
        let child = try ChildProcess(try path(of: program), arguments, environment: environment)
        do {
            return try await withTimeout(limit, "\(program) \(arguments.first ?? "") did not end") {
                var lines: [String] = []
                for await line in child.lines { lines.append(line) }
                return Outcome(status: await child.ended(), text: lines.joined(separator: "\n"))
            }
        } catch {
            child.signal(SIGKILL)
            throw error
        }
    }
}
