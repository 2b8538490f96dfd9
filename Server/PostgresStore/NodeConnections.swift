import TidemarkPostgres

/// The connections of nodes, by which they are known: the server lists names, and forgets them when a node dies.
///
/// `tidemark sequencing` is of the version before generations, `tidemark/8 sequencing` of generation 8.
enum NodeConnections {
    static func name(_ application: String, _ generation: Int) -> String { "\(application)/\(generation)" }

    /// Connections of nodes on the database that are of earlier generations than `oldest`; how many of each.
    static func older(
        than oldest: Int, application: String, on connection: PostgresConnection
    ) async throws -> [(generation: Int, count: Int64)] {
        let found = try await connection.run([
            .simple(
                """
                SELECT application_name, count(*)
                FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE '% sequencing'
                GROUP BY application_name
                """)
        ]).first
        let all = try found?.all { (name: try $0.text(), count: try $0.integer()) } ?? []
        return all.compactMap { name, count in
            generation(name, application).flatMap { $0 < oldest ? ($0, count) : nil }
        }.sorted { $0.0 < $1.0 }
    }

    /// `nil` for a name that is not a node's.
    static func generation(_ name: String, _ application: String) -> Int? {
        guard name.hasPrefix(application), name.hasSuffix(" sequencing") else { return nil }
        let middle = name.dropFirst(application.count).dropLast(" sequencing".count)
        if middle.isEmpty { return PostgresSchema.landed }
        return middle.first == "/" ? Int(middle.dropFirst()) : nil
    }
}
