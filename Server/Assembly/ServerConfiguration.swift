package import Logging
package import TidemarkEdge
package import TidemarkHub
package import TidemarkIdentity
package import TidemarkModel
import TidemarkNode

/// The checked settings of a server.
package struct ServerConfiguration: Sendable {
    package var database: DatabaseLocation
    package var listen: ListenAddress
    /// The address for operators and their Prometheus; `nil` for none.
    package var adminListen: ListenAddress?
    /// The tokens for the operators' API; `nil` closes it.
    package var adminTokens: AdminTokens?
    /// The schema for the first start on a database; `nil` leaves it to the one in force there.
    package var schema: SchemaDocument?
    /// The secret that signs the server's own tokens; `nil` if only issuers' tokens are accepted.
    package var secret: ServerSecret?
    /// The issuers whose tokens are accepted besides; `nil` for none.
    package var issuers: IssuerFile?
    /// The path of the issuers' file.
    package var issuersPath: String?
    /// The rules of people's sign-in; `nil` without accounts.
    package var accounts: AccountConfiguration?
    /// Seals cursors; `nil` for a key that is kept beside the database.
    package var cursors: CursorSeal?
    /// True for a server that is started for trying things out: it prints how to get a token.
    package var isDevelopment: Bool
    /// Secrets that a server for trying things out makes itself: for tokens, and for operators.
    package var developmentSecrets: [DevelopmentSecret.Purpose: DevelopmentSecret] = [:]
    package var logLevel: Logger.Level
    package var limits: ServerLimits
    package var nodeID: UInt64
    package var name: String
    /// The host names that requests may use, beside addresses and `localhost`.
    package var hostNames: Set<String>
    /// Web origins whose pages may call, beside the server's own.
    package var origins: Set<String>
    /// The certificate's files; `nil` for plain HTTP.
    package var tls: CertificatePaths?
    /// The proxies whose header names the peer.
    package var proxies: TrustedProxies?

    /// Reads the environment and the file of settings that it names, then the files that these name. `overrides` come
    /// from a command line: they override the environment, which overrides the file.
    ///
    /// - Throws: the first invalid setting, with its line if it comes from the file.
    package init(
        environment: [String: String], overrides: [Setting: String] = [:]
    ) throws(ConfigurationError) {
        let values = try SettingValues(environment: environment, overrides: overrides)
        do throws(ConfigurationError) { try self.init(values) } catch { throw values.placed(error) }
    }

    private init(_ values: SettingValues) throws(ConfigurationError) {
        isDevelopment = try values.flag(.development)
        database = try DatabaseLocation(values[.database] ?? DatabaseLocation.usual)
        listen = try ListenAddress(values[.listen] ?? "127.0.0.1:8080")
        adminListen = try values.adminListen(besides: listen)
        if isDevelopment {
            if values[.secretFile] == nil, values[.secret] == nil {
                developmentSecrets[.tokens] = try DevelopmentSecret(.tokens, in: database.dataFolder)
            }
            if adminListen != nil, values[.adminTokenFile] == nil {
                developmentSecrets[.operators] = try DevelopmentSecret(.operators, in: database.dataFolder)
            }
            try values.requireLoopback(listen)
            if let adminListen, values[.adminTokenFile] == nil { try values.requireLoopback(adminListen) }
        }
        adminTokens = try values.adminTokens(developmentSecrets[.operators])
        tls = try values.tls()
        proxies = try values.proxies()
        issuersPath = values[.issuers]
        issuers = try values.issuers()
        secret = try values.secret(developmentSecrets[.tokens])
        accounts = try values.accounts(secret)
        cursors = try values.cursors(secret)
        if cursors == nil, case .postgres = database {
            throw ConfigurationError(
                .cursorKeyFile,
                "there is no key to seal cursors: without a secret for tokens it needs a file of its own; write one "
                    + "with 'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d \" \\n\" > cursor_key', name the file "
                    + "here, and give it to every server")
        }
        schema = try values.schema(isDevelopment: isDevelopment)
        let level = values[.logLevel] ?? "info"
        guard let logLevel = Logger.Level(rawValue: level.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(.logLevel, "\"\(level)\" is not a level: choose one of \(levels)")
        }
        self.logLevel = logLevel
        limits = ServerLimits()
        try limits.apply(values.limits)
        if let rule = try values.durable(on: database) { limits.node.durable = rule }
        nodeID = try values.node()
        name = values[.name] ?? "tidemark"
        hostNames = try values.hostNames(listen)
        origins = try values.origins()
    }

    /// The host names and the page origins that requests may have.
    package var sites: SiteCheck { SiteCheck(names: hostNames, origins: origins) }

    /// The schema that is used when none is named, for trying things out: a chat.
    package static func sampleSchema() throws(ConfigurationError) -> Schema { try SchemaDocument.sample().schema }
}
