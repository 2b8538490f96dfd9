import TidemarkPostgres

/// How transactions begin and end. Settings hold for one transaction, so that a pooler between changes nothing.
struct Transactions: Sendable {
    static let commit = Statement.simple("COMMIT")

    private let writeSettings: Statement
    private let readSettings: Statement

    init(_ options: PostgresStore.Options) {
        let timeouts = [
            "lock_timeout": options.lockTimeout, "statement_timeout": options.statementTimeout,
            "idle_in_transaction_session_timeout": options.idleTimeout,
        ].sorted { $0.key < $1.key }.map { "set_config('\($0.key)', '\(max($0.value.milliseconds, 1))', true)" }
        writeSettings = Self.settings("sync_write_settings", timeouts + Self.planning + [Self.durability])
        readSettings = Self.settings("sync_read_settings", timeouts + Self.planning)
    }

    /// READ COMMITTED whatever the database's default is: under REPEATABLE READ the head that is read after waiting
    /// for the lock would be the one from before.
    var beginWrite: [Statement] { [.simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"), writeSettings] }

    /// One snapshot for all statements.
    var beginRead: [Statement] { [.simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), readSettings] }

    /// Every join here is a loop over an array with one index search an element. A generic plan says so once and for
    /// all; left to statistics, plans made while a table was empty (scan it, hash it) stay until the next ANALYZE.
    private static let planning =
        [
            "set_config('plan_cache_mode', 'force_generic_plan', true)"
        ]
        + ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_memoize", "jit"].map {
            "set_config('\($0)', 'off', true)"
        }

    /// A commit that is answered is on disk; stricter settings of the database stay.
    private static let durability = """
        set_config(
            'synchronous_commit',
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'local'
            ELSE current_setting('synchronous_commit') END,
            true)
        """

    private static func settings(_ name: String, _ parts: [String]) -> Statement {
        Statement(PreparedStatement(name: name, sql: "SELECT " + parts.joined(separator: ", ")))
    }
}

extension Duration {
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
