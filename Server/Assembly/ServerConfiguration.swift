import Crypto
import Foundation
package import Logging
package import TidemarkEdge
package import TidemarkHub
package import TidemarkIdentity
package import TidemarkModel
import TidemarkNode

/// Everything that a server is started with, checked.
package struct ServerConfiguration: Sendable {
    package var database: DatabaseLocation
    package var listen: ListenAddress
    /// Where operators and their Prometheus come; `nil` for nowhere.
    package var adminListen: ListenAddress?
    /// Who may call the operators' API there; `nil` for nobody.
    package var adminTokens: AdminTokens?
    /// For the first start on a database; `nil` leaves it to the schema that is in force there.
    package var schema: SchemaDocument?
    /// What tokens of the server's own are signed with; `nil` where issuers alone count.
    package var secret: ServerSecret?
    /// Whose tokens are accepted besides; `nil` for nobody's.
    package var issuers: IssuerFile?
    /// The file that names them.
    package var issuersPath: String?
    /// Seals cursors; `nil` for a key that is kept beside the database.
    package var cursors: CursorSeal?
    /// Started for trying things out: says how to get a token.
    package var isDevelopment: Bool
    /// Tokens are signed with the secret that everybody knows.
    package var usesDevelopmentSecret: Bool
    package var logLevel: Logger.Level
    package var limits: ServerLimits
    package var nodeID: UInt64
    package var name: String
    package var origins: Set<String>
    /// `nil` for plain HTTP.
    package var tls: CertificatePaths?
    /// Whose word counts for who is at the other end.
    package var proxies: TrustedProxies?

    /// Reads the environment; `overrides` come from a command line and count more. Reads the named files.
    ///
    /// - Throws: the first setting that is wrong.
    package init(
        environment: [String: String], overrides: [Setting: String] = [:]
    ) throws(ConfigurationError) {
        let values = Values(environment: environment, overrides: overrides)
        isDevelopment = try values.flag(.development)
        database = try DatabaseLocation(values[.database] ?? "sqlite:./tidemark-data/tidemark.sqlite")
        listen = try ListenAddress(values[.listen] ?? "127.0.0.1:8080")
        adminListen = try values.adminListen(besides: listen)
        adminTokens = try values.adminTokens(isDevelopment: isDevelopment)
        if isDevelopment {
            try values.requireLoopback(listen)
            if let adminListen, values[.adminTokenFile] == nil { try values.requireLoopback(adminListen) }
        }
        tls = try values.tls()
        proxies = try values.proxies()
        issuersPath = values[.issuers]
        issuers = try values.issuers()
        secret = try values.secret(isDevelopment: isDevelopment)
        cursors = try values.cursors(secret)
        if cursors == nil, case .postgres = database {
            throw ConfigurationError(
                .cursorKeyFile,
                "servers on one database seal cursors with one key, and without a secret for tokens there is none; write "
                    + "one with 'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d \" \\n\" > cursor_key', name the file "
                    + "here, and give it to every server")
        }
        schema = try values.schema(isDevelopment: isDevelopment)
        usesDevelopmentSecret = isDevelopment && values[.secretFile] == nil && values[.secret] == nil
        let level = values[.logLevel] ?? "info"
        guard let logLevel = Logger.Level(rawValue: level.lowercased()) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw ConfigurationError(.logLevel, "\"\(level)\" is none of \(levels)")
        }
        self.logLevel = logLevel
        limits = ServerLimits()
        try limits.apply(environment)
        if let rule = try values.durable(on: database) { limits.node.durable = rule }
        nodeID = try values.node()
        name = values[.name] ?? "tidemark"
        origins = try values.origins()
    }

    /// The schema that is used when none is named, for trying things out: a chat.
    package static func sampleSchema() throws(ConfigurationError) -> Schema { try SchemaDocument.sample().schema }
}

/// The settings as text, from both sources. An empty value counts as none.
struct Values {
    let environment: [String: String]
    let overrides: [Setting: String]

    subscript(setting: Setting) -> String? {
        let text = overrides[setting] ?? environment[setting.rawValue]
        return text?.isEmpty == false ? text : nil
    }

    func flag(_ setting: Setting) throws(ConfigurationError) -> Bool {
        switch self[setting]?.lowercased() {
        case nil, "0", "false", "no": return false
        case "1", "true", "yes": return true
        case .some: throw ConfigurationError(setting, "must be true or false")
        }
    }

    func adminListen(besides listen: ListenAddress) throws(ConfigurationError) -> ListenAddress? {
        guard let text = self[.adminListen] else { return nil }
        let address = try ListenAddress(text, of: .adminListen)
        guard address != listen || address.port == 0 else {
            throw ConfigurationError(.adminListen, "\(address) is where clients come: it needs a port of its own")
        }
        return address
    }

    func adminTokens(isDevelopment: Bool) throws(ConfigurationError) -> AdminTokens? {
        guard let path = self[.adminTokenFile] else {
            guard isDevelopment, self[.adminListen] != nil else { return nil }
            return try Self.adminTokens(Array("admin \(AdminTokens.development)".utf8), from: "--dev")
        }
        return try Self.adminTokens(try file(path, .adminTokenFile), from: path)
    }

    private static func adminTokens(_ bytes: [UInt8], from path: String) throws(ConfigurationError) -> AdminTokens {
        do throws(AdminTokens.Fault) {
            return try AdminTokens(bytes)
        } catch {
            throw ConfigurationError(.adminTokenFile, "\(path): \(error.reason)")
        }
    }

    func node() throws(ConfigurationError) -> UInt64 {
        guard let text = self[.node] else { return UInt64.random(in: 1...UInt64(Int64.max)) }
        guard let id = UInt64(text), id > 0, id <= UInt64(Int64.max) else {
            throw ConfigurationError(.node, "must be a whole number from 1 to \(Int64.max)")
        }
        return id
    }

    func schema(isDevelopment: Bool) throws(ConfigurationError) -> SchemaDocument? {
        guard let path = self[.schema] else { return isDevelopment ? try SchemaDocument.sample() : nil }
        return try SchemaDocument(try file(path, .schema), from: path)
    }

    func issuers() throws(ConfigurationError) -> IssuerFile? {
        guard let path = self[.issuers] else { return nil }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        let document = try file(path, .issuers)
        do throws(IssuerFileError) {
            return try IssuerFile(document) { name in
                let url = URL(fileURLWithPath: name, relativeTo: folder)
                return FileManager.default.contents(atPath: url.path).map { Array($0) }
            }
        } catch {
            throw ConfigurationError(.issuers, "\(path), \(error)")
        }
    }

    func cursors(_ secret: ServerSecret?) throws(ConfigurationError) -> CursorSeal? {
        var own: [SymmetricKey] = []
        if let path = self[.cursorKeyFile] {
            own = try SecretLines(try file(path, .cursorKeyFile), from: .cursorKeyFile).cursorKeys
        } else if let text = self[.cursorKey] {
            own = try SecretLines(Array(text.utf8), from: .cursorKey).cursorKeys
        }
        return CursorKeys(own: own, secret: secret).seal
    }

    func secret(isDevelopment: Bool) throws(ConfigurationError) -> ServerSecret? {
        if let path = self[.secretFile] {
            return try ServerSecret(try file(path, .secretFile), from: .secretFile)
        }
        if let text = self[.secret] { return try ServerSecret(Array(text.utf8), from: .secret) }
        guard isDevelopment else {
            if self[.issuers] != nil { return nil }
            throw ConfigurationError(
                .secretFile,
                "there is neither a secret to check tokens with nor a file of issuers (TIDEMARK_ISSUERS); write one with "
                    + "'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d \" \\n\" > token_secret' and name the file here, "
                    + "or start with --dev to try things out")
        }
        return try ServerSecret(Array(ServerSecret.development.utf8), from: .secret)
    }

    private func file(_ path: String, _ setting: Setting) throws(ConfigurationError) -> [UInt8] {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(setting, "cannot read the file \(path)")
        }
        return Array(contents)
    }
}
