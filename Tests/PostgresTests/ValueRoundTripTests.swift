import Testing

@testable import TidemarkPostgres

@Suite(.enabled(if: TestDatabase.isGiven), .timeLimit(.minutes(5)))
struct `Values` {
    private func echo(
        _ sql: String, name: String = "echo", _ add: (inout Parameters) -> Void
    ) async throws -> ResultSet {
        var parameters = Parameters()
        add(&parameters)
        return try await TestDatabase.withConnection { [parameters] connection in
            let prepared = PreparedStatement(name: name, sql: sql)
            return try #require(try await connection.run([Statement(prepared, parameters)]).first)
        }
    }

    @Test func `scalars come back unchanged`() async throws {
        let bytes: [UInt8] = [0, 1, 0xFF, 0, 0x5C]
        let row = try await echo(
            "SELECT $1, (-2147483648)::integer, (-32768)::smallint, $2, $3, $4, $5, $6, $7, $8, $9"
        ) {
            $0.add(Int64.min)
            $0.add(true)
            $0.add(false)
            $0.add(text: "tide 潮 🌊")
            $0.add(text: "")
            $0.add(bytes: bytes)
            $0.add(bytes: [])
            $0.add(uuid: 0x0123_4567_89AB_CDEF, lo: 0xFEDC_BA98_7654_3210)
            $0.addNull()
        }
        #expect(try row.int64(0, 0) == .min)
        #expect(try row.int32(0, 1) == .min)
        #expect(try row.int16(0, 2) == .min)
        #expect(try row.bool(0, 3))
        #expect(try !row.bool(0, 4))
        #expect(try row.text(0, 5) == "tide 潮 🌊")
        #expect(try row.text(0, 6) == "")
        #expect(try row.bytes(0, 7) == bytes)
        #expect(try row.bytes(0, 8) == [])
        #expect(try row.uuid(0, 9) == (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210))
        #expect(try row.isNull(0, 10))
        #expect(try !row.isNull(0, 8))
        #expect(row.rowCount == 1 && row.columnCount == 11 && row.affectedRows == 1)
    }

    @Test func `the server reads a uuid as in its text form`() async throws {
        let row = try await echo("SELECT $1::text") { $0.add(uuid: 0x0123_4567_89AB_CDEF, lo: 0xFEDC_BA98_7654_3210) }
        #expect(try row.text(0, 0) == "01234567-89ab-cdef-fedc-ba9876543210")
    }

    @Test func `a lone empty value is not NULL`() async throws {
        let row = try await echo("SELECT $1") { $0.add(text: "") }
        #expect(try row.text(0, 0) == "")
    }

    @Test func `arrays unfold in order, side by side`() async throws {
        let rows = try await echo(
            """
            SELECT *
            FROM unnest($1, $2, $3, $4, $5)
            """
        ) {
            $0.addInt64Array([1, .max, -3])
            $0.addInt16Array([1, .min, 3])
            $0.addTextArray(["a", "", "潮"])
            $0.addUUIDArray([(1, 2), (.max, 0), (3, 4)])
            $0.addTextArray(utf8: [nil, Array("潮".utf8), []])
        }
        #expect(rows.rowCount == 3)
        #expect(try (0..<3).map { try rows.int64($0, 0) } == [1, .max, -3])
        #expect(try (0..<3).map { try rows.int16($0, 1) } == [1, .min, 3])
        #expect(try (0..<3).map { try rows.text($0, 2) } == ["a", "", "潮"])
        #expect(try rows.uuid(0, 3) == (1, 2))
        #expect(try rows.uuid(1, 3) == (.max, 0))
        #expect(try rows.isNull(0, 4))
        #expect(try (1..<3).map { try rows.text($0, 4) } == ["潮", ""])
    }

    @Test func `array elements can be NULL`() async throws {
        let rows = try await echo("SELECT * FROM unnest($1, $2)") {
            $0.addTextArray(["a", nil, ""] as [String?])
            $0.addInt64Array([nil, nil, 5] as [Int64?])
        }
        #expect(try (0..<3).map { try rows.isNull($0, 0) } == [false, true, false])
        #expect(try (0..<3).map { try rows.isNull($0, 1) } == [true, true, false])
        #expect(try rows.int64(2, 1) == 5)
    }

    @Test func `empty arrays are arrays without elements`() async throws {
        let row = try await echo("SELECT cardinality($1), cardinality($2), cardinality($3), cardinality($4)") {
            $0.addInt64Array([] as [Int64])
            $0.addInt16Array([])
            $0.addTextArray([] as [String])
            $0.addUUIDArray([])
        }
        #expect(try (0..<4).map { try row.int32(0, $0) } == [0, 0, 0, 0])
    }

    @Test func `reading a value as another type is refused`() async throws {
        let row = try await echo("SELECT $1, $2, 1.5::float8") {
            $0.add(Int64(1))
            $0.addNull()
        }
        #expect(throws: PostgresError.self) { try row.int32(0, 0) }
        #expect(throws: PostgresError.self) { try row.text(0, 0) }
        #expect(throws: PostgresError.self) { try row.int64(0, 2) }
        #expect(throws: PostgresError.decoding("row 0, column 1 is NULL")) { try row.text(0, 1) }
        #expect(throws: PostgresError.decoding("row 0, column 1 is NULL")) { try row.bytes(0, 1) }
    }

    @Test(arguments: [(1, 0), (0, 1), (-1, 0), (0, -1), (Int.max, Int.max)])
    func `a row or column outside the result is refused`(row: Int, column: Int) async throws {
        let result = try await echo("SELECT $1") { $0.add(Int64(1)) }
        #expect(throws: PostgresError.self) { try result.int64(row, column) }
        #expect(throws: PostgresError.self) { try result.isNull(row, column) }
    }

    @Test func `affected rows are counted`() async throws {
        try await TestDatabase.withConnection { connection in
            let results = try await connection.run(
                "CREATE TEMP TABLE t AS SELECT * FROM generate_series(1, 5) AS i",
                "UPDATE t SET i = i + 1 WHERE i > 2", "DELETE FROM t WHERE i > 100", "SET LOCAL lock_timeout = '1s'")
            #expect(results.map(\.affectedRows) == [5, 3, 0, 0])
        }
    }
}
