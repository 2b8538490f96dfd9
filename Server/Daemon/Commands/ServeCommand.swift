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
            Each setting has an environment variable and a member in the file that --config names: options count more than the \
            environment, and that more than the file. Prints one line with its address once it listens; its log goes to \
            standard error. Under systemd (Type=notify) it tells when it serves, that it lives, and when it stops.

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

    /// Where records are when nothing else is said.
    static let defaultDatabase = DatabaseLocation.usual

    @OptionGroup var settings: ServeSettings

    /// Here, so that the usage which is shown is that of this command.
    func validate() throws {
        do {
            _ = try configuration(ProcessInfo.processInfo.environment)
        } catch is CommandFailure {
            // What the environment lacks is told by `run`: an option that does not exist comes first.
        }
    }

    func run() async throws {
        let configuration = try configuration(ProcessInfo.processInfo.environment)
        // The reason is in the log.
        guard await runServer(configuration) else { throw ExitCode.failure }
    }

    /// What the server is started with.
    ///
    /// - Throws: `ValidationError` for what an option says, `CommandFailure` for what the environment says.
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
    /// A line for each limit, for the help; longer ones go on below.
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
