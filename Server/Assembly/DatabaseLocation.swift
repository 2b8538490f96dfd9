/// The database that holds the records.
package enum DatabaseLocation: Hashable, Sendable {
    /// The path of a file.
    case sqlite(path: String)
    /// A libpq connection URI; may hold a password.
    case postgres(uri: String)

    /// Reads `sqlite:PATH`, a bare path, `postgres://…` or `postgresql://…`.
    package init(_ text: String) throws(ConfigurationError) {
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgres(uri: text)
            return
        }
        let isNamed = text.hasPrefix("sqlite:")
        guard isNamed || !Self.hasKeywords(text) else {
            throw ConfigurationError(
                .database,
                """
                is written in keywords: write postgres://user@host/name, for a socket's folder \
                postgres://user@/name?host=FOLDER&port=5432, and for a file of this name sqlite:PATH
                """)
        }
        let path = isNamed ? String(text.dropFirst("sqlite:".count)) : text
        guard !path.isEmpty else {
            throw ConfigurationError(.database, "names no file: write sqlite:PATH, or postgres://user@host/name")
        }
        guard !path.contains("://") else {
            let scheme = path.prefix { $0 != ":" }
            throw ConfigurationError(
                .database, "no such kind of database \"\(scheme)\": write sqlite:PATH, or postgres://user@host/name")
        }
        self = .sqlite(path: path)
    }

    /// A SQLite file beside the program.
    package static let usual = "sqlite:\(usualPath)"
    static let usualPath = "./tidemark-data/tidemark.sqlite"

    /// The database that a command works on. Its option overrides the environment, which overrides the file of settings
    /// that the environment names. Without any of them it is ``usual``.
    package init(given option: String?, _ environment: [String: String]) throws(ConfigurationError) {
        let values = try SettingValues(environment: environment, overrides: option.map { [.database: $0] } ?? [:])
        do throws(ConfigurationError) {
            try self.init(values[.database] ?? Self.usual)
        } catch {
            throw values.placed(error)
        }
    }

    /// True for `host=… dbname=…`, which is no URI and hardly meant as a file's name.
    private static func hasKeywords(_ text: String) -> Bool {
        let first = text.drop { $0 == " " }.prefix { $0 != "=" }
        guard first.endIndex < text.endIndex else { return false }
        let keywords = ["host", "hostaddr", "port", "dbname", "user", "password", "passfile", "service", "sslmode"]
        return keywords.contains { first == $0 }
    }

    /// The path of the SQLite file; `nil` for PostgreSQL.
    package var path: String? {
        switch self {
        case .sqlite(let path): path
        case .postgres: nil
        }
    }

    /// A description for people, without user or password.
    package var summary: String {
        switch self {
        case .sqlite(let path): "SQLite file \(path)"
        case .postgres: "PostgreSQL"
        }
    }
}
