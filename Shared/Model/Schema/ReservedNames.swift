/// The names that no collection or field can have, in upper or lower case. All other names may be words of SQLite,
/// since devices quote them.
enum ReservedNames {
    /// The columns that every record has.
    static let columns: Set<String> = [
        "id", "local_id", "server_id", "scope", "seq", "born", "server_time", "created_time", "author", "state",
        "extra",
    ]

    private static let prefixes = [
        ("tidemark_", "Tidemark's own tables"), ("sqlite_", "SQLite's own tables"),
        ("pragma_", "table-valued functions of SQLite"),
    ]

    private static let functions: Set<String> = ["json_each", "json_tree"]

    /// Returns the reason why no collection can have the name; `nil` for a name that one can have.
    static func reason(against name: String) -> String? {
        let name = name.lowercased()
        if let (prefix, owner) = prefixes.first(where: { name.hasPrefix($0.0) }) {
            return "names that begin with \(prefix) are reserved for \(owner)"
        }
        return functions.contains(name) ? "is the name of a table-valued function of SQLite" : nil
    }
}
