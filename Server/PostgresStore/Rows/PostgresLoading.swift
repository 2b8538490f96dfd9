package import TidemarkPostgres
package import TidemarkStore

/// Writes whole tables into an empty schema, in one transaction: a kill leaves nothing.
///
/// The fence is left without its row, so that no node works until ``PostgresRestoring/finish(_:from:logger:_:)`` has written it.
package final class PostgresLoading {
    /// The tables that it makes.
    package static let state = StoredState(
        generation: PostgresExamination.own, oldest: PostgresSchema.first, revision: 0, version: "")

    private let session: PostgresBulk

    private init(_ session: PostgresBulk) { self.session = session }

    /// Makes the tables, runs `body` on a thread of its own, and commits when it returns.
    ///
    /// - Parameter application: the connection's name, by which ``PostgresRestoring/look(_:logger:)`` finds it.
    /// - Throws: `StoreError`; what `body` throws. Nothing was written.
    package static func run<Value: Sendable>(
        _ configuration: PostgresConfiguration, application: String,
        _ body: @escaping @Sendable (PostgresLoading) throws -> Value
    ) async throws -> Value {
        var patient = configuration
        patient.applicationName = application
        do {
            return try await PostgresBulk.run(patient, timeout: .seconds(24 * 3_600)) { session in
                try session.execute(([begin] + tables).joined(separator: ";\n"))
                let value = try body(PostgresLoading(session))
                try session.execute(end)
                return value
            }
        } catch let error as PostgresError { throw StoreError(postgres: error) }
    }

    private static let begin = """
        BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
        SET LOCAL statement_timeout = 0;
        SET LOCAL lock_timeout = 10000;
        SET LOCAL idle_in_transaction_session_timeout = 0;
        \(PostgresStore.lockSchema)
        """

    /// PostgreSQL alone computes a scope's hash (`PLACES.md`): a trigger does it while rows come.
    private static let tables =
        PostgresMigrator.made(PostgresSchema.generations) + [
            "DELETE FROM sync_fence",
            """
            CREATE FUNCTION sync_derive() RETURNS trigger
            LANGUAGE plpgsql
            AS $$
            BEGIN
                NEW.place := (
                    SELECT hashtextextended(NEW.scope, salt) FROM sync_workspace WHERE workspace = NEW.workspace);
                NEW.octets := coalesce(octet_length(NEW.body::text), 0);
                RETURN NEW;
            END
            $$
            """,
            "CREATE TRIGGER sync_derive BEFORE INSERT ON sync_record FOR EACH ROW EXECUTE FUNCTION sync_derive()",
        ]

    private static let end = """
        DROP TRIGGER sync_derive ON sync_record;
        DROP FUNCTION sync_derive();
        SELECT setval(
            pg_get_serial_sequence('sync_act', 'number'), (SELECT coalesce(max(number), 0) + 1 FROM sync_act), false);
        \(StoredTable.all.map { "ANALYZE \($0.name);" }.joined(separator: "\n"))
        COMMIT
        """
}

extension PostgresLoading: RowSink {
    /// See `RowSink.write`: one COPY.
    package func write(_ table: StoredTable, _ rows: ((TableRow) throws -> Void) throws -> Void) throws {
        do {
            // Of a table that is made with a row in it.
            try session.execute("DELETE FROM \(table.name)")
            var line: [UInt8] = []
            try session.copyIn("COPY \(table.name) (\(table.postgresColumns)) FROM STDIN") {
                try rows { row in
                    line.removeAll(keepingCapacity: true)
                    for value in row { line.append(copying: value) }
                    line[line.count - 1] = UInt8(ascii: "\n")
                    try session.put(line)
                }
            }
        } catch let error as PostgresError { throw Self.translate(error, table) }
    }

    private static func translate(_ error: PostgresError, _ table: StoredTable) -> StoreError {
        let error = StoreError(postgres: error)
        return StoreError(error.kind, "\(table.name): \(error.reason)", fault: error.fault)
    }
}

extension PostgresLoading: RowSource {
    /// See `RowSource.rows`: what the transaction has written so far.
    package func rows(of table: StoredTable, _ each: (TableRow) throws -> Void) throws {
        let columns = Dictionary(uniqueKeysWithValues: table.columns.enumerated().map { ($1.postgresName, $0) })
        do {
            try session.copyOut("COPY \(table.name) (\(table.postgresColumns)) TO STDOUT") { line in
                let line = UnsafeRawBufferPointer(rebasing: line.dropLast())
                try each(try ArchiveLine(line, columns).values(of: table))
            }
        } catch let error as PostgresError { throw Self.translate(error, table) }
    }
}

extension StoredTable {
    fileprivate var postgresColumns: String { columns.map(\.postgresName).joined(separator: ", ") }
}

extension StoredTable.Column {
    /// `SELECT user` without quotes would name the role.
    var postgresName: String { name == "user" ? "user_id" : name }
}

extension [UInt8] {
    /// Appends a value in COPY's text form, and a tab.
    fileprivate mutating func append(copying value: RowValue) {
        switch value {
        case .null: self += "\\N".utf8
        case .integer(let number): self += String(number).utf8
        case .text(let bytes):
            for byte in bytes {
                switch byte {
                case UInt8(ascii: "\\"): self += "\\\\".utf8
                case UInt8(ascii: "\n"): self += "\\n".utf8
                case UInt8(ascii: "\r"): self += "\\r".utf8
                case UInt8(ascii: "\t"): self += "\\t".utf8
                default: append(byte)
                }
            }
        case .bytes(let bytes):
            self += "\\\\x".utf8
            reserveCapacity(count + bytes.count * 2 + 1)
            for byte in bytes {
                append(Self.digits[Int(byte >> 4)])
                append(Self.digits[Int(byte & 15)])
            }
        }
        append(UInt8(ascii: "\t"))
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
