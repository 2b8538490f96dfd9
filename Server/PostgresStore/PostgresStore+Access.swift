import TidemarkModel
import TidemarkPostgres
import TidemarkStore

extension PostgresStore {
    func on<Value>(
        _ pool: PostgresPool, _ body: (PostgresConnection) async throws -> Value
    ) async throws(StoreError) -> Value {
        do {
            return try await pool.withConnection(body)
        } catch {
            throw StoreError(postgres: error)
        }
    }

    /// Runs statements on one snapshot in one round trip; returns one result for each.
    func read(_ statements: [Statement]) async throws(StoreError) -> Results {
        let begin = transactions.beginRead
        let results = try await on(reading) { try await $0.run(begin + statements + [Transactions.commit]) }
        return Results(results.dropFirst(begin.count).dropLast())
    }

    /// Makes the workspace, locks it, runs the statements and commits, in one round trip.
    func writeLocked(_ workspace: WorkspaceID, _ statements: [Statement]) async throws(StoreError) -> Results {
        let begin =
            transactions.beginWrite + [
                Statement(SequencingSQL.makeWorkspace, workspace),
                SequencingSQL.lock(workspace, generation: generation),
            ]
        let results = try await on(reading) { connection in
            let results = try await connection.run(begin + statements + [Transactions.commit])
            guard results[begin.count - 1].rowCount == 1 else { throw StoreError.erasedWorkspace }
            return results
        }
        return Results(results.dropFirst(begin.count).dropLast())
    }
}

/// The results of one round trip, by the index of their statement.
struct Results {
    private let results: [ResultSet]

    init(_ results: ArraySlice<ResultSet>) { self.results = Array(results) }

    subscript(index: Int) -> Rows { Rows(result: results.indices.contains(index) ? results[index] : nil) }

    /// The rows of one result, read with the store's errors.
    struct Rows {
        fileprivate let result: ResultSet?

        func all<Value>(_ read: (inout RowReader) throws -> Value) throws(StoreError) -> [Value] {
            do { return try result?.all(read) ?? [] } catch { throw StoreError(postgres: error) }
        }

        func first<Value>(_ read: (inout RowReader) throws -> Value) throws(StoreError) -> Value? {
            do { return try result?.first(read) } catch { throw StoreError(postgres: error) }
        }
    }
}
