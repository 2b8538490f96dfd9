import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine

/// `tidemark serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve devices until SIGTERM or Ctrl-C.",
        discussion: """
            Each setting has an environment variable and a member in the file that --config names: options override \
            the environment, which overrides the file. Prints one line with its address once it listens; its log is on \
            standard error. Under systemd (Type=notify) it reports when it serves, that it lives, and when it stops.

            EXAMPLES
              tidemark serve --dev
              tidemark serve --schema app.schema.json --secret-file token_secret
              tidemark serve --schema app.schema.json --secret-file token_secret \\
                  --listen 0.0.0.0:8080 --database postgres://tidemark@db/tidemark
              tidemark serve --schema app.schema.json --issuers issuers.json
              tidemark serve --config /etc/tidemark/tidemark.json
              tidemark serve --dev --schema app.schema.json --limit BURST=5000

            LIMITS (--limit NAME=VALUE, or the variable TIDEMARK_LIMIT_NAME)
            \(LimitSetting.table)
            """)

    /// The database of a server that is given none.
    static let defaultDatabase = DatabaseLocation.usual

    @OptionGroup var settings: ServeSettings

    /// Validated here, so that errors show the usage of this command.
    func validate() throws {
        do {
            _ = try configuration(ProcessInfo.processInfo.environment)
        } catch is CommandFailure {
            // `run` reports what the environment lacks: an unknown option is reported first.
        }
    }

    func run() async throws {
        let configuration = try configuration(ProcessInfo.processInfo.environment)
        // The reason is in the log.
        guard await runServer(configuration) else { throw ExitCode.failure }
    }

    /// Returns the configuration of the server.
    ///
    /// - Throws: `ValidationError` for an invalid option, `CommandFailure` for an invalid environment.
    func configuration(_ environment: [String: String]) throws -> ServerConfiguration {
        let (environment, overrides, options) = try settings.given(environment)
        do throws(ConfigurationError) {
            return try ServerConfiguration(environment: environment, overrides: overrides)
        } catch {
            if let option = options[error.setting] { throw ValidationError("\(option): \(error.reason)") }
            throw CommandFailure("\(error)")
        }
    }
}

extension LimitSetting {
    /// The lines of the help with all limits; long ones continue below.
    fileprivate static var table: String {
        let start = 2 + (all.map(\.name.count).max() ?? 0) + 1
        return all.map { setting in
            let name = "  " + setting.name
            let words = TextFlow.lines("\(setting.meaning) (default: \(setting.usual))", width: 78 - start)
            let gap = String(repeating: " ", count: start)
            return name + gap.dropFirst(name.count) + words.joined(separator: "\n" + gap)
        }.joined(separator: "\n")
    }
}
