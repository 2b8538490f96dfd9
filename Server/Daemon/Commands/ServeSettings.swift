import ArgumentParser
import TidemarkAssembly
import TidemarkCommandLine
import TidemarkIdentity

/// The options of `tidemark serve`, which `tidemark doctor` takes as well.
struct ServeSettings: ParsableArguments {
    @Option(
        help: """
            Where the records are: sqlite:PATH or postgres://user@host/name. (environment: TIDEMARK_DATABASE; default: \
            \(ServeCommand.defaultDatabase))
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
            Where operators come: /metrics for Prometheus, /livez and /readyz, which ask nobody who he is, and with \
            --admin-token-file the console and the API. It belongs on an address that clients do not reach, such as \
            127.0.0.1:8081. (environment: TIDEMARK_ADMIN_LISTEN; default: there is none)
            """, valueName: "host:port"))
    var adminListen: String?

    @Option(
        help: ArgumentHelp(
            """
            Tokens that open the console and the API for operators, one a line: a name, a space, and at least \
            \(AdminTokens.bytesMin) bytes. (environment: TIDEMARK_ADMIN_TOKEN_FILE; default: there is no API, and with --dev \
            one whose token everybody knows)
            """, valueName: "file"))
    var adminTokenFile: String?

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

    @OptionGroup var network: NetworkOptions

    @Flag(
        help: """
            Try things out: use a secret that everybody knows, unless one is given, and say how to get a token. Only this \
            machine may reach it. (environment: TIDEMARK_DEV=1)
            """)
    var dev = false

    @Flag(
        help: """
            Let others reach a server that was started with --dev: whoever does can read and write everything. \
            (environment: TIDEMARK_DEV_REACHABLE=1)
            """)
    var devReachable = false

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

    /// What options and environment say together.
    ///
    /// - Returns: the environment with the limits of the command line, the other options, and by which option each was given.
    /// - Throws: `ValidationError` for an option that is none.
    func given(
        _ environment: [String: String]
    ) throws -> (environment: [String: String], overrides: [Setting: String], options: [String: String]) {
        var environment = environment
        if environment[Setting.database.rawValue]?.isEmpty ?? true {
            environment[Setting.database.rawValue] = ServeCommand.defaultDatabase
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
            (.adminListen, "--admin-listen", adminListen),
            (.adminTokenFile, "--admin-token-file", adminTokenFile), (.schema, "--schema", schema),
            (.secretFile, "--secret-file", secretFile), (.issuers, "--issuers", issuers),
            (.cursorKeyFile, "--cursor-key-file", cursorKeyFile),
            (.durable, "--durable", durable), (.logLevel, "--log-level", logLevel),
            (.development, "--dev", dev ? "1" : nil),
            (.developmentReachable, "--dev-reachable", devReachable ? "1" : nil),
        ] + network.values {
            guard let value else { continue }
            overrides[setting] = value
            given[setting.rawValue] = option
        }
        return (environment, overrides, given)
    }
}
