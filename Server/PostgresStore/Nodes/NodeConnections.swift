import TidemarkPostgres
package import TidemarkStore

/// The names of nodes' connections: the database server lists them, and forgets them when a node dies.
///
/// `tidemark/8@1f0c2b9a sequencing` is a connection of generation 8 of the installation `1f0c2b9a`: the schema that
/// holds its tables. Another schema of the same database is another installation, whose nodes are ignored here.
enum NodeConnections {
    /// The statement that names a new connection: only the database knows the schema that `search_path` means.
    static func naming(_ application: String, _ generation: Int, _ purpose: String) -> String {
        let application = application.replacing("'", with: "''")
        return """
            SELECT set_config(
                'application_name', '\(application)/\(generation)@' || \(PostgresStore.installation) || ' \(purpose)', false)
            """
    }

    /// Returns the generations older than `oldest` of this installation's connections, each with its count.
    static func older(
        than oldest: Int, application: String, on connection: PostgresConnection
    ) async throws -> [(generation: Int, count: Int64)] {
        let found = try await connection.run([
            .simple(
                """
                SELECT application_name, \(PostgresStore.installation), count(*)
                FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE '% sequencing'
                GROUP BY application_name
                """)
        ]).first
        let all =
            try found?.all { (name: try $0.text(), installation: try $0.text(), count: try $0.integer()) } ?? []
        return all.compactMap { name, installation, count in
            generation(name, application, installation).flatMap { $0 < oldest ? ($0, count) : nil }
        }.sorted { $0.0 < $1.0 }
    }

    /// The generation in a connection's name; `nil` for a name that is not of this installation's nodes.
    static func generation(_ name: String, _ application: String, _ installation: String) -> Int? {
        guard name.hasPrefix(application), name.hasSuffix(" sequencing") else { return nil }
        let middle = name.dropFirst(application.count).dropLast(" sequencing".count)
        let parts = middle.dropFirst().split(separator: "@", omittingEmptySubsequences: false)
        guard middle.first == "/", parts.count == 2, parts[1] == installation else { return nil }
        return Int(parts[0])
    }
}

extension PostgresStore {
    /// An expression for the name of the installation, of the schema in which tables are made: at most 8 characters.
    static let installation = "to_hex(hashtext(current_schema()::text))"

    /// Returns the name of the installation, which distinguishes its nodes and their messages from those in other
    /// schemas of the database; needs no `run()`.
    package func installationName() async throws(StoreError) -> String {
        do {
            let found = try await Self.withConnection(configuration, called: "start", logger: logger) { connection in
                try await connection.run([.simple("SELECT \(Self.installation)")]).first?
                    .first { try $0.optionalText() }
            }
            guard case let name?? = found else {
                throw PostgresRestoring.noSchema
            }
            return name
        } catch {
            throw StoreError(postgres: error)
        }
    }
}
