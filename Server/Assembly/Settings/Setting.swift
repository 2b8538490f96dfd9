import TidemarkIdentity

/// What can be set, by environment variable; a command line, and a file of settings, name each by the same words.
///
/// This table is what the help of `tidemark serve`, `tidemark settings` and deploy/settings.md say.
package enum Setting: String, Sendable, CaseIterable {
    case config = "TIDEMARK_CONFIG"
    case database = "TIDEMARK_DATABASE"
    case listen = "TIDEMARK_LISTEN"
    case adminListen = "TIDEMARK_ADMIN_LISTEN"
    case adminTokenFile = "TIDEMARK_ADMIN_TOKEN_FILE"
    case schema = "TIDEMARK_SCHEMA"
    case secret = "TIDEMARK_SECRET"
    case secretFile = "TIDEMARK_SECRET_FILE"
    case issuers = "TIDEMARK_ISSUERS"
    case accounts = "TIDEMARK_ACCOUNTS"
    case accountsWorkspaces = "TIDEMARK_ACCOUNTS_WORKSPACES"
    case accountsRegister = "TIDEMARK_ACCOUNTS_REGISTER"
    case accountsKeyFile = "TIDEMARK_ACCOUNTS_KEY_FILE"
    case accountsResetHook = "TIDEMARK_ACCOUNTS_RESET_HOOK"
    case accountsHookSecretFile = "TIDEMARK_ACCOUNTS_HOOK_SECRET_FILE"
    case cursorKey = "TIDEMARK_CURSOR_KEY"
    case cursorKeyFile = "TIDEMARK_CURSOR_KEY_FILE"
    case durable = "TIDEMARK_DURABLE"
    case logLevel = "TIDEMARK_LOG_LEVEL"
    case node = "TIDEMARK_NODE"
    case name = "TIDEMARK_NAME"
    case hostNames = "TIDEMARK_HOST_NAMES"
    case origins = "TIDEMARK_ORIGINS"
    case tlsCertificate = "TIDEMARK_TLS_CERTIFICATE"
    case tlsKey = "TIDEMARK_TLS_KEY"
    case trustedProxies = "TIDEMARK_TRUSTED_PROXIES"
    case proxyField = "TIDEMARK_PROXY_FIELD"
    case proxyProtocol = "TIDEMARK_PROXY_PROTOCOL"
    case development = "TIDEMARK_DEV"
    case developmentReachable = "TIDEMARK_DEV_REACHABLE"

    /// How a file says it.
    package enum Form: Sendable {
        case text, path, database, number, flag, list
        /// Not at all: files of settings are read by many.
        case secret

        var words: String {
            switch self {
            case .text, .database, .secret: "a text"
            case .path: "the path of a file, in quotes"
            case .number: "a whole number"
            case .flag: "true or false"
            case .list: "a list of texts, or one text with commas"
            }
        }
    }

    /// What is said of a setting wherever people read of it.
    package struct Row: Sendable {
        package let form: Form
        /// What stands for the value in the help; `nil` for a flag.
        package let valueName: String?
        package let meaning: String
        /// What counts when nothing is set; `nil` where nothing does.
        package let usual: String?

        init(_ form: Form, _ valueName: String?, _ meaning: String, usual: String? = nil) {
            self.form = form
            self.valueName = valueName
            self.meaning = meaning
            self.usual = usual
        }
    }

    /// Its line of the table.
    package var row: Row {
        switch self {
        case .config:
            Row(
                .path, "file",
                "A file with any of these settings, JSON, such as { \"listen\": \"0.0.0.0:8080\", \"limits\": { "
                    + "\"rate\": 200 } }. The environment overrides it, and options override both.")
        case .database:
            Row(
                .database, "database",
                "The database with the records: sqlite:PATH or postgres://user@host/name.",
                usual: DatabaseLocation.usual)
        case .listen:
            Row(
                .text, "host:port",
                "The address to listen on: *:PORT is every address of the machine, IPv4 and IPv6; port 0 lets the system "
                    + "choose.",
                usual: "127.0.0.1:8080")
        case .adminListen:
            Row(
                .text, "host:port",
                "The address for operators: /metrics for Prometheus, /livez and /readyz, which need no token, and "
                    + "with --admin-token-file the console and the API. Choose one that clients cannot reach, such "
                    + "as 127.0.0.1:8081.",
                usual: "no such address")
        case .adminTokenFile:
            Row(
                .path, "file",
                "Tokens that open the console and the API for operators, one a line: a name, a space, and at least "
                    + "\(AdminTokens.bytesMin) bytes.",
                usual:
                    "no API; with --dev, a token that is made and kept in the data folder, as dev_admin_token"
            )
        case .schema:
            Row(
                .path, "file",
                "The schema of what apps store, JSON; 'tidemark schema sample' prints one. For the first start on "
                    + "a database: later ones are put in force by 'tidemark schema apply'. Not needed with --dev.")
        case .secret:
            Row(
                .secret, "text",
                "The secret itself that signs tokens. Prefer its file: an environment is easily revealed.")
        case .secretFile:
            Row(
                .path, "file",
                "The file with the secret that signs tokens, at least \(TokenSecret.bytesMin) bytes.")
        case .issuers:
            Row(
                .path, "file",
                "The issuers whose tokens are accepted, JSON: Firebase, Auth0, Clerk, Supabase, Keycloak, Cognito "
                    + "or any other; deploy/identity.md has examples. A secret is optional then, and accepted "
                    + "besides.")
        case .accounts:
            Row(
                .flag, nil,
                "Let users sign in at this server with a name and a password: deploy/accounts.md. The same for all "
                    + "servers on a database.")
        case .accountsWorkspaces:
            Row(
                .list, "names",
                "The workspaces that have accounts.", usual: "default")
        case .accountsRegister:
            Row(
                .text, "who",
                "Who may make accounts: open for anybody, closed for operators only, by 'tidemark accounts'.",
                usual: "closed")
        case .accountsKeyFile:
            Row(
                .path, "file",
                "Secrets from which the keys of the accounts' tokens are derived, one a line, at least "
                    + "\(TokenSecret.bytesMin) bytes each: the first signs, all are accepted. The same for all servers "
                    + "on a database.", usual: "the secrets that sign tokens")
        case .accountsResetHook:
            Row(
                .text, "url",
                "The URL of a program that gets the reset tokens of users who have forgotten their password, and "
                    + "sends them on: https, or http on this machine.", usual: "none is sent")
        case .accountsHookSecretFile:
            Row(
                .path, "file",
                "The secret that signs the calls of that program, at least \(TokenSecret.bytesMin) bytes.")
        case .cursorKey:
            Row(
                .secret, "text",
                "The key itself that seals cursors. Prefer its file.")
        case .cursorKeyFile:
            Row(
                .path, "file",
                "The file with the key that seals cursors, the same for all servers on a database.",
                usual: "derived from the secret, or kept beside the SQLite file")
        case .durable:
            Row(
                .text, "rule",
                "When a commit is safe from a database that goes back: age=24h, at this age; replicas=1, once so "
                    + "many standbys of PostgreSQL have it on disk; backup, once a verified 'tidemark backup' has "
                    + "it. Until then devices keep what they wrote, and offer it again.",
                usual: "age=24h")
        case .logLevel:
            Row(
                .text, "level",
                "The least level of log lines: trace, debug, info, notice, warning, error or critical.", usual: "info")
        case .node:
            Row(
                .number, "number",
                "A number that distinguishes this process from others on the same database.", usual: "random")
        case .name:
            Row(
                .text, "name",
                "The server's name for clients and logs.", usual: "tidemark")
        case .hostNames:
            Row(
                .list, "names",
                "Host names of this server, such as sync.example: that of its public address, and those that "
                    + "proxies and other machines use. A request with another host name is answered 421. Addresses "
                    + "and localhost are always accepted.",
                usual: "that of --listen, if it is a name")
        case .origins:
            Row(
                .list, "origins",
                "Web origins whose pages may connect and call, such as https://app.example; pages of others are answered "
                    + "403. Apps are not affected.", usual: "the server's own")
        case .tlsCertificate:
            Row(
                .path, "file",
                "Speak TLS with this certificate and its chain, PEM. Read again when the file changes, and on "
                    + "SIGHUP.", usual: "plain HTTP")
        case .tlsKey:
            Row(
                .path, "file",
                "The certificate's key, PEM, without a password.")
        case .trustedProxies:
            Row(
                .list, "addresses",
                "Proxies that are trusted to state a client's address, such as 10.0.0.0/8,::1. Statements of others "
                    + "are ignored.", usual: "none")
        case .proxyField:
            Row(
                .text, "field",
                "The header field that these proxies write: x-forwarded-for or forwarded.", usual: "x-forwarded-for")
        case .proxyProtocol:
            Row(
                .flag, nil,
                "Connections of these proxies begin with a header of the PROXY protocol, version 2; those without "
                    + "one are closed.")
        case .development:
            Row(
                .flag, nil,
                "For trying things out: make a secret at the first start, unless one is given, keep it in the data "
                    + "folder as \(DevelopmentSecret.Purpose.tokens.rawValue), and print how to get a token. Only this "
                    + "machine can reach the server."
            )
        case .developmentReachable:
            Row(
                .flag, nil,
                "Let other machines reach a server that was started with --dev. Without a certificate, anyone on "
                    + "the way can read what they send and get.")
        }
    }

    /// How a file says it.
    package var form: Form { row.form }

    private static let prefix = "TIDEMARK_"
    /// As a file says it: `admin_listen`.
    package var member: String { rawValue.dropFirst(Self.prefix.count).lowercased() }
    /// As a command line says it: `--admin-listen`; `nil` for what it cannot say, since others read it.
    package var option: String? { form == .secret ? nil : "--" + member.split(separator: "_").joined(separator: "-") }
    /// What a file may say.
    static let inFiles = allCases.filter { $0 != .config && $0.form != .secret }

    /// For the help of its option.
    package var help: String {
        var variable = rawValue
        switch self {
        case .secretFile: variable += ", or the secret itself in \(Setting.secret.rawValue)"
        case .cursorKeyFile: variable += ", or the key itself in \(Setting.cursorKey.rawValue)"
        default: if form == .flag { variable += "=1" }
        }
        let usual = row.usual.map { "; default: \($0)" } ?? ""
        return "\(row.meaning) (environment: \(variable)\(usual))"
    }
}
