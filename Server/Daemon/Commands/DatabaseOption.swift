import ArgumentParser
import Foundation
import Logging
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkOperations

/// The option for the database that holds the records.
struct DatabaseOption: ParsableArguments {
    @Option(
        help: """
            The database that holds the records: sqlite:PATH or postgres://user@host/name. (environment: \
            TIDEMARK_DATABASE; default: \(ServeCommand.defaultDatabase))
            """)
    var database: String?

    func location() throws -> DatabaseLocation {
        try DatabaseLocation(given: database, ProcessInfo.processInfo.environment)
    }

    /// Returns the configuration of a command that works beside servers.
    ///
    /// - Throws: `CommandFailure` for a file that does not exist: a mistyped path would make a new database.
    func configuration() throws -> ServerConfiguration {
        // The command does not listen, whatever the server's environment sets.
        var overrides: [Setting: String] = [.development: "1", .developmentReachable: "1"]
        overrides[.database] = database
        let configuration = try ServerConfiguration(
            environment: ProcessInfo.processInfo.environment, overrides: overrides)
        if case .sqlite(let path) = configuration.database, !FileManager.default.fileExists(atPath: path) {
            throw CommandFailure("\(path) does not exist: check the path of the database")
        }
        return configuration
    }
}

extension Logger {
    /// A log of warnings on standard error.
    static var ofCommand: Logger {
        var logger = Logger(label: "tidemark") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }
}

/// Prints a line at once, also into a pipe.
func show(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Turns errors into messages and exit codes: 2 if something is damaged, 1 for any other failure.
func reporting(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error where error is ExitCode || error is ValidationError || error is CommandFailure {
        throw error
    } catch let error as BackupError where error.kind == .damaged {
        FileHandle.standardError.write(Data("Error: \(error)\n".utf8))
        throw ExitCode(2)
    } catch {
        throw CommandFailure("\(error)")
    }
}
