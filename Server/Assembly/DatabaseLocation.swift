/// Where the records are.
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
        let path = text.hasPrefix("sqlite:") ? String(text.dropFirst("sqlite:".count)) : text
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

    /// For people: without user or password.
    package var summary: String {
        switch self {
        case .sqlite(let path): "SQLite file \(path)"
        case .postgres: "PostgreSQL"
        }
    }
}
