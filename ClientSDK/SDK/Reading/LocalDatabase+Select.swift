import GRDB

extension LocalDatabase {
    /// Runs one query, which sees one state of the database.
    ///
    /// A change of threads takes longer than a page of records, and a reader never waits for the writer. So what is short
    /// is read where it is asked for, and what may be long on a thread of the database's. Call it from a function that is
    /// `@concurrent`: a screen's actor is no place for either.
    func select<Value: Sendable>(
        atMost records: Int?, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do {
            // A limit below zero is refused by the body.
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

    /// Reads for a call of the app, on a thread of the database's.
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        do { return try await writer.read(body) } catch { throw StoreError.naming(error) }
    }
}
