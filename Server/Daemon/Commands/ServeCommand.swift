import ArgumentParser
import Foundation
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity

/// `tidemark serve`: the server.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve devices until SIGTERM or Ctrl-C.",
        discussion: """
            Each setting has an environment variable; an option counts more. Prints one line with its address once it \
            listens; its log goes to standard error.

            EXAMPLES
              tidemark serve --dev
              tidemark serve --schema app.schema.json --secret-file token_secret
              tidemark serve --schema app.schema.json --secret-file token_secret \\
                  --listen 0.0.0.0:8080 --database postgres://tidemark@db/tidemark
              tidemark serve --schema app.schema.json --issuers issuers.json
              tidemark serve --dev --schema app.schema.json --limit BURST=5000

            LIMITS (--limit NAME=VALUE, or the variable TIDEMARK_LIMIT_NAME)
            \(LimitSetting.table)
            """)

    /// Where records are when nothing else is said.
    static let defaultDatabase = "sqlite:./tidemark-data/tidemark.sqlite"

    @Option(
        help: """
            Where the records are: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE; default: \
            \(defaultDatabase))
            """)
    var database: String?

    @Option(
        help: ArgumentHelp(
            """
            Where to listen; port 0 lets the system choose. (environment: TIDEMARK_LISTEN; default: 127.0.0.1:8080)
            """, valueName: "host:port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            """
            Where operators come: /metrics for Prometheus, /livez and /readyz. Nobody is asked who he is there, so that it \
            belongs on an address that clients do not reach, such as 127.0.0.1:8081. (environment: \
            TIDEMARK_ADMIN_LISTEN; default: there is none)
            """, valueName: "host:port"))
    var adminListen: String?

    @Option(
        help: ArgumentHelp(
            """
            The schema of what apps store, JSON; 'tidemark schema sample' prints one. For the first start on a database: \
            later ones are put in force by 'tidemark schema apply'. Not needed with --dev. \
            (environment: TIDEMARK_SCHEMA)
            """,
            valueName: "file"))
    var schema: String?

    @Option(
        help: ArgumentHelp(
            """
            The file that holds the secret which tokens are signed with, at least \(TokenSecret.bytesMin) bytes. \
            (environment: TIDEMARK_SECRET_FILE, or the secret itself in TIDEMARK_SECRET)
            """, valueName: "file"))
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            """
            The issuers whose tokens are accepted, JSON: Firebase, Auth0, Clerk, Supabase, Keycloak, Cognito or any other; \
            deploy/identity.md has examples. A secret is not needed then, and counts beside them if it is given. \
            (environment: TIDEMARK_ISSUERS)
            """, valueName: "file"))
    var issuers: String?

    @Option(
        help: ArgumentHelp(
            """
            The file that holds the key which cursors are sealed with, the same for all servers on a database. (environment: \
            TIDEMARK_CURSOR_KEY_FILE, or the key itself in TIDEMARK_CURSOR_KEY; default: made of the secret, or kept \
            beside the SQLite file)
            """, valueName: "file"))
    var cursorKeyFile: String?

    @Flag(
        help: """
            Try things out: use a secret that everybody knows, unless one is given, and say how to get a token. \
            (environment: TIDEMARK_DEV=1)
            """)
    var dev = false

    @Option(
        help: ArgumentHelp(
            """
            By what a commit counts as safe from a database that goes back; until then devices keep what they wrote, and offer \
            it again: age=24h, by its age; replicas=1, once so many standbys of PostgreSQL have it on disk; backup, once a \
            verified 'tidemark backup' has it. (environment: TIDEMARK_DURABLE; default: age=24h)
            """, valueName: "rule"))
    var durable: String?

    @Option(
        help: ArgumentHelp(
            """
            trace, debug, info, notice, warning, error or critical. (environment: TIDEMARK_LOG_LEVEL; default: info)
            """, valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp("The same as --limit RATE=NUMBER. (environment: TIDEMARK_LIMIT_RATE)", valueName: "number"))
    var rate: String?

    @Option(
        help: ArgumentHelp(
            "The same as --limit LEDGER_DAYS=NUMBER. (environment: TIDEMARK_LIMIT_LEDGER_DAYS)", valueName: "number"))
    var ledgerDays: String?

    @Option(
        help: ArgumentHelp("Moves a limit of those above. May be given several times.", valueName: "name=value"))
    var limit: [String] = []

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
        do {
            try await runServer(configuration)
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// What the server is started with.
    ///
    /// - Throws: `ValidationError` for what an option says, `CommandFailure` for what the environment says.
    func configuration(_ environment: [String: String]) throws -> ServerConfiguration {
        var environment = environment
        if environment[Setting.database.rawValue]?.isEmpty ?? true {
            environment[Setting.database.rawValue] = Self.defaultDatabase
        }
        var given: [String: String] = [:]
        let own = [
            rate.map { ("--rate", "RATE=\($0)") }, ledgerDays.map { ("--ledger-days", "LEDGER_DAYS=\($0)") },
        ].compactMap { $0 }
        for (option, text) in limit.map({ ("--limit", $0) }) + own {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else {
                throw ValidationError("--limit takes NAME=VALUE, such as RATE=200, and not '\(text)'.")
            }
            let variable = LimitSetting.prefix + parts[0].uppercased()
            environment[variable] = String(parts[1])
            given[variable] = option == "--limit" ? "--limit \(text)" : "\(option) \(parts[1])"
        }
        var overrides: [Setting: String] = [:]
        for (setting, option, value) in [
            (Setting.database, "--database", database), (.listen, "--listen", listen),
            (.adminListen, "--admin-listen", adminListen), (.schema, "--schema", schema),
            (.secretFile, "--secret-file", secretFile), (.issuers, "--issuers", issuers),
            (.cursorKeyFile, "--cursor-key-file", cursorKeyFile), (.durable, "--durable", durable),
            (.logLevel, "--log-level", logLevel),
            (.development, "--dev", dev ? "1" : nil),
        ] {
            guard let value else { continue }
            overrides[setting] = value
            given[setting.rawValue] = option
        }
        do throws(ConfigurationError) {
            return try ServerConfiguration(environment: environment, overrides: overrides)
        } catch {
            if let option = given[error.setting] { throw ValidationError("\(option): \(error.reason)") }
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
