import TidemarkPostgres

extension PostgresExamination {
    /// The schema of a connection: its owner, its other contents, and the rights of the connection's role.
    package struct Ground: Hashable, Sendable {
        /// The first existing schema of the search path; `nil` for none.
        package var schema: String? = "public"
        package var database = ""
        package var role = ""
        /// The owners of the schema and of the database.
        package var schemaOwner = ""
        package var databaseOwner = ""
        /// True when the role may make tables in the schema.
        package var mayCreate = true
        /// The visible tables of Tidemark, and those of them that the role may not read, or not write.
        package var tables: [String] = []
        package var unreadable: [String] = []
        package var unwritable: [String] = []
        /// The owner of Tidemark's tables, if the role has not the owner's rights.
        package var foreignOwner: String?
        /// Tables in the schema that are not Tidemark's.
        package var otherTables: [String] = []
        /// Other schemas of the database that have Tidemark's tables.
        package var elsewhere: [String] = []
        /// True when a workspace is stored.
        package var hasData = false

        package init() {}

        func mayRead(_ table: String) -> Bool { tables.contains(table) && !unreadable.contains(table) }
    }
}

extension PostgresExamination.Ground {
    /// The bound on names that are read.
    private static let namesMax = 1_000

    init(_ connection: PostgresConnection) async throws {
        func rows(_ sql: String) async throws -> ResultSet? { try await connection.run([.simple(sql)]).first }
        let surroundings = try await rows(
            """
            SELECT current_schema()::text, current_database()::text, current_user::text,
                coalesce(pg_get_userbyid(n.nspowner)::text, ''), pg_get_userbyid(d.datdba)::text,
                coalesce(has_schema_privilege(n.oid, 'CREATE'), false)
            FROM pg_database d
            LEFT JOIN pg_namespace n ON n.nspname = current_schema()
            WHERE d.datname = current_database()
            """)
        _ = try surroundings?.first { row in
            schema = try row.optionalText()
            (database, role) = (try row.text(), try row.text())
            (schemaOwner, databaseOwner) = (try row.text(), try row.text())
            mayCreate = try row.bool()
        }
        let ours = try await rows(
            """
            SELECT c.relname::text, has_table_privilege(c.oid, 'SELECT'),
                has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
                    AND has_table_privilege(c.oid, 'DELETE'),
                pg_has_role(c.relowner, 'USAGE'), pg_get_userbyid(c.relowner)::text
            FROM pg_class c
            WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'sync\\_%' AND pg_table_is_visible(c.oid)
            ORDER BY c.relname
            LIMIT \(Self.namesMax)
            """)
        for row in try ours?.all({ (try $0.text(), try $0.bool(), try $0.bool(), try $0.bool(), try $0.text()) }) ?? []
        {
            let (name, isReadable, isWritable, isOwn, owner) = row
            tables.append(name)
            if !isReadable { unreadable.append(name) }
            if !isWritable { unwritable.append(name) }
            if !isOwn { foreignOwner = owner }
        }
        otherTables =
            try await rows(
                """
                SELECT c.relname::text
                FROM pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema() AND c.relname NOT LIKE 'sync\\_%'
                ORDER BY c.relname
                LIMIT \(Self.namesMax)
                """)?.all { try $0.text() } ?? []
        elsewhere =
            try await rows(
                """
                SELECT DISTINCT n.nspname::text
                FROM pg_class c
                JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE c.relkind IN ('r', 'p') AND c.relname = 'sync_fence'
                    AND NOT pg_table_is_visible(c.oid)
                ORDER BY 1
                LIMIT \(Self.namesMax)
                """)?.all { try $0.text() } ?? []
    }
}
