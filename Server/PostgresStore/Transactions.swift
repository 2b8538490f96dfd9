import TidemarkLock
import TidemarkModel
import TidemarkPostgres

/// The statements that begin and end transactions. Settings are set for one transaction, so that a pooler in between
/// changes nothing.
struct Transactions: Sendable {
    static let commit = Statement.simple("COMMIT")

    private let writeSettings: Statement
    private let readSettings: Statement

    /// - Parameter generation: this node's; a read is refused if the database does not serve it. `nil` refuses nothing.
    init(_ options: PostgresStore.Options, generation: Int?) {
        let timeouts = [
            "lock_timeout": options.lockTimeout, "statement_timeout": options.statementTimeout,
            "idle_in_transaction_session_timeout": options.idleTimeout,
        ].sorted { $0.key < $1.key }.map { "set_config('\($0.key)', '\(max($0.value.milliseconds, 1))', true)" }
        writeSettings = Self.settings("sync_write_settings", timeouts + Self.planning + [Self.durability])
        let fence = generation.map { ["(SELECT \(FenceSQL.passes("\($0)")) FROM sync_fence f WHERE f.one)"] } ?? []
        readSettings = Self.settings("sync_read_settings", timeouts + Self.planning + fence)
    }

    /// READ COMMITTED whatever the database's default is: under REPEATABLE READ, a head that is read after the wait for
    /// the lock would be the one from before (R-02).
    var beginWrite: [Statement] { [.simple("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"), writeSettings] }

    /// Begins a read with one snapshot for all statements.
    var beginRead: [Statement] { [.simple("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"), readSettings] }

    /// Every search is by an index, every join a loop with one search for each element of an array. A generic plan
    /// fixes this for good. With statistics, plans made while a table was small (scan it, hash it) stay until the next
    /// ANALYZE and cost a thousand times more. Costs count rows, and entries of indexes, and nothing else. That prefers
    /// the index that finds fewer of them, and a search for each element to comparing every row with each, down to
    /// tables of one row. An entry of an index costs as much as a row. When it cost a thousandth, PostgreSQL after an
    /// ANALYZE read the whole primary key for each window of a scope that holds most rows. A catch-up of 100,000
    /// records then took 25 times as long.
    ///
    /// The coordinator of a Citus must know the values of a join or an insert to find the shard; the shard makes the
    /// plan.
    private static let planning =
        [
            """
            set_config(
                'plan_cache_mode',
                CASE WHEN current_setting('citus.version', true) IS NULL THEN 'force_generic_plan' ELSE 'force_custom_plan' END,
                true)
            """
        ]
        + [
            ("cpu_tuple_cost", "1"), ("cpu_index_tuple_cost", "1"),
            ("cpu_operator_cost", "0.00001"), ("random_page_cost", "0.001"), ("seq_page_cost", "0.001"),
            ("enable_seqscan", "off"), ("enable_bitmapscan", "off"), ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"), ("enable_material", "off"), ("enable_memoize", "off"), ("jit", "off"),
        ].map { "set_config('\($0.0)', '\($0.1)', true)" }

    /// An answered commit is on disk; stricter settings of the database stay.
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

extension Parameters {
    /// Begins with the workspace, like every statement.
    init(_ workspace: WorkspaceID) {
        self.init()
        add(text: workspace.text)
    }

    mutating func add(_ id: UniqueID) { add(uuid: id.high, lo: id.low) }

    mutating func add(_ ids: [UniqueID]) { addUUIDArray(ids.map { ($0.high, $0.low) }) }

    mutating func add(_ texts: [String]) { addTextArray(texts) }

    mutating func add(_ numbers: [Int64]) { addInt64Array(numbers) }
}

extension Statement {
    /// A statement whose first parameter is the workspace.
    init(_ prepared: PreparedStatement, _ workspace: WorkspaceID, _ add: (inout Parameters) -> Void = { _ in }) {
        var parameters = Parameters(workspace)
        add(&parameters)
        self.init(prepared, parameters)
    }
}

/// The connection of each workspace's latest step from memory, while it is leased: the next step is sent behind it.
final class SteppingConnections: Sendable {
    private let latest = Lock<[WorkspaceID: PostgresConnection]>([:])

    subscript(workspace: WorkspaceID) -> PostgresConnection? {
        get { latest.withLock { $0[workspace] } }
        set { latest.withLock { $0[workspace] = newValue } }
    }

    /// Forgets a connection that all holders have returned.
    func tidy(_ workspace: WorkspaceID) {
        latest.withLock { latest in
            if latest[workspace]?.hasEnded == true { latest[workspace] = nil }
        }
    }
}
