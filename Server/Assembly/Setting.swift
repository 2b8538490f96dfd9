/// What can be set, by environment variable; a command line may override each by the same key.
package enum Setting: String, Sendable, CaseIterable {
    /// `sqlite:PATH`, a bare path, or `postgres://…`. Default: `sqlite:./tidemark-data/tidemark.sqlite`.
    case database = "TIDEMARK_DATABASE"
    /// `HOST:PORT`; port 0 lets the system choose. Default: `127.0.0.1:8080`.
    case listen = "TIDEMARK_LISTEN"
    /// `HOST:PORT` of the listener for operators, which asks nobody who he is. Default: there is none.
    case adminListen = "TIDEMARK_ADMIN_LISTEN"
    /// Path of a file with the tokens that open the operators' API there, one a line, each with a name before it. Default: there is
    /// no such API.
    case adminTokenFile = "TIDEMARK_ADMIN_TOKEN_FILE"
    /// Path of the schema, in JSON. Needed for the first start on a database, except for trying things out: then a chat's is
    /// taken. Later ones are put in force by the operator's call.
    case schema = "TIDEMARK_SCHEMA"
    /// The key that tokens are signed with, at least 32 bytes.
    case secret = "TIDEMARK_SECRET"
    /// Path of a file that holds it.
    case secretFile = "TIDEMARK_SECRET_FILE"
    /// Path of a file that names whose tokens are accepted, in JSON.
    case issuers = "TIDEMARK_ISSUERS"
    /// The key that cursors are sealed with, at least 32 bytes. Default: of the secret for tokens.
    case cursorKey = "TIDEMARK_CURSOR_KEY"
    /// Path of a file that holds it.
    case cursorKeyFile = "TIDEMARK_CURSOR_KEY_FILE"
    /// `age=24h`, `replicas=N` or `backup`: by what commits count as safe. Default: `age=24h`.
    case durable = "TIDEMARK_DURABLE"
    /// `trace` … `critical`. Default: `info`.
    case logLevel = "TIDEMARK_LOG_LEVEL"
    /// A number that tells this process from others on the same database. Default: random.
    case node = "TIDEMARK_NODE"
    /// What clients and logs see as the server's name. Default: `tidemark`.
    case name = "TIDEMARK_NAME"
    /// Web origins whose pages may connect and call, separated by commas. Default: none.
    case origins = "TIDEMARK_ORIGINS"
    /// Path of the server's certificate and those above it, in PEM. Default: plain HTTP.
    case tlsCertificate = "TIDEMARK_TLS_CERTIFICATE"
    /// Path of the certificate's key, in PEM.
    case tlsKey = "TIDEMARK_TLS_KEY"
    /// Addresses and blocks of the proxies whose word counts for who is at the other end, separated by commas. Default: nobody.
    case trustedProxies = "TIDEMARK_TRUSTED_PROXIES"
    /// The field that they write: `x-forwarded-for` or `forwarded`. Default: `x-forwarded-for`.
    case proxyField = "TIDEMARK_PROXY_FIELD"
    /// `1` or `true`: their connections begin with a header of the PROXY protocol, version 2.
    case proxyProtocol = "TIDEMARK_PROXY_PROTOCOL"
    /// `1` or `true`: start without a secret of one's own, for trying things out.
    case development = "TIDEMARK_DEV"
    /// `1` or `true`: let others than this machine reach a server for trying things out.
    case developmentReachable = "TIDEMARK_DEV_REACHABLE"
}
