/// PostgreSQL's description of the tables of a schema, as lines that can be compared.
enum PostgresCatalog {
    static func read(_ schema: TestSchema) async throws -> [String] {
        var lines: [String] = []
        for query in [columns, options, indexes, constraints, functions, statistics, notes] {
            lines += try await schema.sql(query).map {
                $0.replacing("\(schema.name).", with: "")
            }
        }
        return lines
    }

    // From 15.20 on PostgreSQL stores a number of its own in each column's options, `pg_attver`, which no two columns
    // share.
    private static let columns = """
        SELECT concat_ws(' ', 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), co.collname,
            a.attnotnull, a.attstorage, a.attstattarget,
            (SELECT array_agg(o) FROM unnest(a.attoptions) AS o WHERE o NOT LIKE 'pg_attver=%'), pg_get_expr(d.adbin, d.adrelid))
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_collation co ON co.oid = a.attcollation
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
        ORDER BY c.relname, a.attnum
        """

    private static let options = """
        SELECT concat_ws(' ', 'options', relname, relkind, reloptions)
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace
        ORDER BY relname
        """

    /// The indexes in the order of their creation, which decides when the planner has no other reason.
    private static let indexes = """
        SELECT concat_ws(' ', 'index', t.relname, row_number() OVER (PARTITION BY t.relname ORDER BY i.indexrelid),
            pg_get_indexdef(i.indexrelid), i.indisvalid)
        FROM pg_index i
        JOIN pg_class t ON t.oid = i.indrelid
        WHERE t.relnamespace = current_schema()::regnamespace
        ORDER BY 1
        """

    private static let constraints = """
        SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace
        ORDER BY 1
        """

    private static let functions = """
        SELECT concat_ws(' ', 'function', proname, pg_get_function_identity_arguments(oid), provolatile, prosrc)
        FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace
        ORDER BY 1
        """

    private static let statistics = """
        SELECT concat_ws(' ', 'statistics', tablename, attname, n_distinct, null_frac)
        FROM pg_stats
        WHERE schemaname = current_schema()
        ORDER BY 1
        """

    private static let notes = """
        SELECT concat_ws(' ', 'step', step, ended IS NOT NULL) FROM sync_step
        UNION ALL SELECT concat_ws(' ', 'fence', generation, oldest) FROM sync_fence
        ORDER BY 1
        """
}
