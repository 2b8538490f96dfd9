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
                    + "\"rate\": 200 } }. The environment counts more than it, and options more than both.")
        case .database:
            Row(
                .database, "database",
                "Where the records are: sqlite:PATH or postgres://user@host/name.", usual: DatabaseLocation.usual)
        case .listen:
            Row(
                .text, "host:port",
                "Where to listen: *:PORT is every address of the machine, IPv4 and IPv6; port 0 lets the system choose.",
                usual: "127.0.0.1:8080")
        case .adminListen:
            Row(
                .text, "host:port",
                "Where operators come: /metrics for Prometheus, /livez and /readyz, which ask nobody who he is, and with "
                    + "--admin-token-file the console and the API. It belongs on an address that clients do not reach, such as "
                    + "127.0.0.1:8081.",
                usual: "there is none")
        case .adminTokenFile:
            Row(
                .path, "file",
                "Tokens that open the console and the API for operators, one a line: a name, a space, and at least "
                    + "\(AdminTokens.bytesMin) bytes.",
                usual:
                    "there is no API, and with --dev one whose token is made and kept in the data folder, as dev_admin_token"
            )
        case .schema:
            Row(
                .path, "file",
                "The schema of what apps store, JSON; 'tidemark schema sample' prints one. For the first start on "
                    + "a database: later ones are put in force by 'tidemark schema apply'. Not needed with --dev.")
        case .secret:
            Row(
                .secret, "text",
                "The secret that tokens are signed with, itself. Prefer its file: an environment is easily shown.")
        case .secretFile:
            Row(
                .path, "file",
                "The file that holds the secret which tokens are signed with, at least \(TokenSecret.bytesMin) "
                    + "bytes.")
        case .issuers:
            Row(
                .path, "file",
                "The issuers whose tokens are accepted, JSON: Firebase, Auth0, Clerk, Supabase, Keycloak, Cognito "
                    + "or any other; deploy/identity.md has examples. A secret is not needed then, and counts beside "
                    + "them if it is given.")
        case .accounts:
            Row(
                .flag, nil,
                "Let people sign in here by a name and a password: deploy/accounts.md. The same for all servers on a "
                    + "database.")
        case .accountsWorkspaces:
            Row(
                .list, "names",
                "The workspaces that have accounts.", usual: "default")
        case .accountsRegister:
            Row(
                .text, "who",
                "Who makes accounts: open, anybody; closed, operators by 'tidemark accounts'.", usual: "closed")
        case .accountsKeyFile:
            Row(
                .path, "file",
                "Secrets of which the keys for the accounts' tokens are made, one a line, at least "
                    + "\(TokenSecret.bytesMin) bytes each: the first signs, all are accepted. The same for all servers "
                    + "on a database.", usual: "those that tokens are signed with")
        case .accountsResetHook:
            Row(
                .text, "url",
                "A program that is told a token for who has forgotten his password, and sends it to him: https, or http "
                    + "on this machine.", usual: "nobody is told")
        case .accountsHookSecretFile:
            Row(
                .path, "file",
                "The secret that calls of that program are signed with, at least \(TokenSecret.bytesMin) bytes.")
        case .cursorKey:
            Row(
                .secret, "text",
                "The key that cursors are sealed with, itself. Prefer its file.")
        case .cursorKeyFile:
            Row(
                .path, "file",
                "The file that holds the key which cursors are sealed with, the same for all servers on a "
                    + "database.", usual: "made of the secret, or kept beside the SQLite file")
        case .durable:
            Row(
                .text, "rule",
                "By what a commit counts as safe from a database that goes back; until then devices keep what "
                    + "they wrote, and offer it again: age=24h, by its age; replicas=1, once so many standbys of "
                    + "PostgreSQL have it on disk; backup, once a verified 'tidemark backup' has it.", usual: "age=24h")
        case .logLevel:
            Row(
                .text, "level",
                "trace, debug, info, notice, warning, error or critical.", usual: "info")
        case .node:
            Row(
                .number, "number",
                "A number that tells this process from others on the same database.", usual: "random")
        case .name:
            Row(
                .text, "name",
                "What clients and logs see as the server's name.", usual: "tidemark")
        case .hostNames:
            Row(
                .list, "names",
                "Names by which this server is called, such as sync.example: that of its public address, and those that "
                    + "proxies and other machines use. A request by another name is answered 421; addresses and localhost "
                    + "need no name here.", usual: "that of --listen, if it is a name")
        case .origins:
            Row(
                .list, "origins",
                "Web origins whose pages may connect and call, such as https://app.example; pages of others are answered "
                    + "403. Apps send none and need none.", usual: "the server's own")
        case .tlsCertificate:
            Row(
                .path, "file",
                "Speak TLS with this certificate and those above it, PEM. Taken anew when it changes, and on "
                    + "SIGHUP.", usual: "plain HTTP")
        case .tlsKey:
            Row(
                .path, "file",
                "The certificate's key, PEM, without a password.")
        case .trustedProxies:
            Row(
                .list, "addresses",
                "Proxies whose word counts for who is at the other end, such as 10.0.0.0/8,::1; everybody else's "
                    + "counts for nothing.", usual: "nobody")
        case .proxyField:
            Row(
                .text, "field",
                "The field that they write: x-forwarded-for or forwarded.", usual: "x-forwarded-for")
        case .proxyProtocol:
            Row(
                .flag, nil,
                "Their connections begin with a header of the PROXY protocol, version 2, and are closed without.")
        case .development:
            Row(
                .flag, nil,
                "Try things out: make a secret at the first start, unless one is given, keep it in the data folder as "
                    + "\(DevelopmentSecret.Purpose.tokens.rawValue), and say how to get a token. Only this machine may reach it."
            )
        case .developmentReachable:
            Row(
                .flag, nil,
                "Let others reach a server that was started with --dev: what they send and get is read by anyone on the "
                    + "way, unless it has a certificate.")
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
