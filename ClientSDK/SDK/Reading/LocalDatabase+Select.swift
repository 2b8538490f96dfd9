import GRDB

extension LocalDatabase {
    /// Runs one query, which sees one state of the database.
    ///
    /// A thread switch takes longer than a page of records, and a reader never waits for the writer. Therefore short
    /// reads run on the caller's thread, and possibly long ones on a thread of the database. Call it from a function
    /// that is `@concurrent`, so that neither runs on a screen's actor.
    func select<Value: Sendable>(
        atMost records: Int?, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            // The body refuses a negative limit.
            guard let records, (0...limits.recordsReadInPlace).contains(records) else {
                return try await writer.unsafeRead(body)
            }
            try Task.checkCancellation()
            return try here(body)
        } catch {
            throw StoreError.naming(error)
        }
    }

    private func here<Value>(_ body: (Database) throws -> Value) throws -> Value { try writer.unsafeRead(body) }

    /// Reads for a call of the app, on a thread of the database.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { return try await writer.read(body) } catch { throw StoreError.naming(error) }
    }
}
