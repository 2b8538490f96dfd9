import Configuration
import Crypto
import Foundation
import TidemarkEdge
import TidemarkHub
import TidemarkIdentity
import TidemarkModel

/// The settings as text: a command line overrides the environment, which overrides a file. An empty value is treated as
/// unset.
struct SettingValues {
    /// Limits by variable, of the environment and of the file.
    let limits: [String: String]
    let file: SettingsFile?
    private let environment: [String: String]
    private let overrides: [Setting: String]
    private let reader: ConfigReader

    /// - Throws: for a file of settings that cannot be read or is invalid.
    init(environment: [String: String], overrides: [Setting: String]) throws(ConfigurationError) {
        let (environment, overrides) = (environment.filter { !$1.isEmpty }, overrides.filter { !$1.isEmpty })
        let path = overrides[.config] ?? environment[Setting.config.rawValue]
        var file: SettingsFile?
        if let path { file = try SettingsFile(at: path) }
        // A secret and its file exclude each other; the source with the higher priority wins.
        for (text, holder) in [(Setting.secret, Setting.secretFile), (.cursorKey, .cursorKeyFile)]
        where environment[text.rawValue] != nil { file?.drop(holder) }
        if environment[LimitSetting.durableHours] != nil { file?.drop(.durable) }
        self.environment = environment
        self.overrides = overrides
        self.file = file
        let inFile = file?.values ?? [:]
        limits = inFile.merging(environment) { $1 }.filter { $0.key.hasPrefix(LimitSetting.prefix) }
        // All are marked as secrets, so that no report of the reader shows one.
        var providers: [any ConfigProvider] = [
            InMemoryProvider(
                name: "options",
                values: Dictionary(
                    uniqueKeysWithValues: overrides.map { ($0.key.absolute, ConfigValue(secret: $0.value)) })),
            EnvironmentVariablesProvider(environmentVariables: environment, secretsSpecifier: .all),
        ]
        if let file {
            let settings = Setting.allCases.compactMap { setting in
                file.values[setting.rawValue].map { (setting.absolute, ConfigValue(secret: $0)) }
            }
            providers.append(InMemoryProvider(name: file.path, values: Dictionary(uniqueKeysWithValues: settings)))
        }
        reader = ConfigReader(providers: providers)
    }

    subscript(setting: Setting) -> String? { reader.string(forKey: setting.key, isSecret: true) }

    /// Returns the error with the file and line of its value, if the value comes from the file.
    func placed(_ error: ConfigurationError) -> ConfigurationError {
        let isGiven = Setting(rawValue: error.setting).map { overrides[$0] != nil } ?? false
        guard !isGiven, environment[error.setting] == nil, let position = file?.place(of: error.setting) else {
            return error
        }
        return ConfigurationError(position, error.reason)
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
            throw ConfigurationError(.adminListen, "\(address) is the clients' address: choose another port")
        }
        return address
    }

    /// - Parameter development: the token of a server in development mode that has no other.
    func adminTokens(_ development: DevelopmentSecret?) throws(ConfigurationError) -> AdminTokens? {
        guard let path = self[.adminTokenFile] else {
            guard let development else { return nil }
            return try Self.adminTokens(Array(development.text.utf8), from: development.path)
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
                return FileManager.default.contents(atPath: url.path).map { Array($0).withoutMark }
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

    /// - Parameter development: the secret of a server in development mode that has no other.
    func secret(_ development: DevelopmentSecret?) throws(ConfigurationError) -> ServerSecret? {
        if let path = self[.secretFile] {
            return try ServerSecret(try file(path, .secretFile), from: .secretFile)
        }
        if let text = self[.secret] { return try ServerSecret(Array(text.utf8), from: .secret) }
        guard let development else {
            // Accounts may have keys of their own.
            if self[.issuers] != nil || self[.accountsKeyFile] != nil { return nil }
            throw ConfigurationError(
                .secretFile,
                "there is neither a secret to check tokens with nor a file of issuers (TIDEMARK_ISSUERS); write one with "
                    + "'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d \" \\n\" > token_secret' and name the file here, "
                    + "or start with --dev to try things out")
        }
        return try ServerSecret(Array(development.text.utf8), from: .development)
    }

    func file(_ path: String, _ setting: Setting) throws(ConfigurationError) -> [UInt8] {
        guard let contents = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError(setting, "cannot read the file \(path)")
        }
        return Array(contents).withoutMark
    }
}

extension Setting {
    /// Returns the setting for a command other than the server; `nil` if it is not set. Its option overrides the
    /// environment, which overrides the file of settings that the environment names.
    ///
    /// - Throws: for a file of settings that cannot be read.
    package func given(_ option: String?, _ environment: [String: String]) throws(ConfigurationError) -> String? {
        try SettingValues(environment: environment, overrides: option.map { [self: $0] } ?? [:])[self]
    }

    /// `tidemark.admin.listen`, which the environment writes TIDEMARK_ADMIN_LISTEN.
    fileprivate var key: ConfigKey { ConfigKey(words) }
    fileprivate var absolute: AbsoluteConfigKey { AbsoluteConfigKey(words) }
    private var words: [String] { rawValue.lowercased().split(separator: "_").map(String.init) }
}

extension ConfigValue {
    fileprivate init(secret text: String) { self.init(.string(text), isSecret: true) }
}
