import GRDB
import TidemarkLock

/// A search met rows that are not indexed yet.
struct RowsWait: Error {
    init() { SearchDemand.current?.note() }
}

/// Notes whether the current read searches where rows wait for the index, even if the reading closure catches the
/// error.
private final class SearchDemand: Sendable {
    @TaskLocal static var current: SearchDemand?

    private let isNoted = Lock(false)

    func note() { isNoted.set(true) }

    /// - Returns: `nil` when rows were missing in the read of `body`.
    static func meeting<Value>(_ body: () throws -> Value) throws -> Value? {
        let demand = SearchDemand()
        let result = Result { try $current.withValue(demand, operation: body) }
        return demand.isNoted.current ? nil : try result.get()
    }
}

extension LocalDatabase {
    /// The attempts of a reader before the writer itself reads.
    private static let indexedReadsMax = 2

    /// Reads with a full-text index that has every row. If the index is behind, it is brought up to date and `body`
    /// runs again.
    ///
    /// Rows may arrive as fast as they are indexed, and on a full disk the index cannot grow. Then the writer indexes,
    /// reads and undoes the indexing, in a transaction that is never committed.
    ///
    /// - Parameter isBrief: true to read on the caller's thread at first.
    func readIndexed<Value: Sendable>(
        isBrief: Bool = false, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do { return try await readingIndexes(isBrief, body) } catch { throw StoreError.naming(error) }
    }

    private func readingIndexes<Value: Sendable>(
        _ isBrief: Bool, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let read: @Sendable (Database) throws -> Value? = { db in try SearchDemand.meeting { try body(db) } }
        for _ in 0..<Self.indexedReadsMax {
            do {
                if let value = isBrief ? try readHere(read) : try await writer.read(read) { return value }
            } catch let error as DatabaseError where error.isOfSearch {
                try await change(isConfirmed: false) { [searchUpkeep] db in try searchUpkeep.forget(db) }
            }
            guard try await bringUpIndexes() else { break }
        }
        return try await writer.writeWithoutTransaction { [searchUpkeep] db in
            // The value until the body has run.
            var result = Result<Value, any Error>.failure(CancellationError())
            try db.inTransaction {
                // The savepoint moves the additions out of memory: reading must not have to write them.
                try db.inSavepoint {
                    while try searchUpkeep.index(db) {}
                    return .commit
                }
                try db.readOnly { result = Result { try body(db) } }
                return .rollback
            }
            return try result.get()
        }
    }

    /// Reads on the calling thread.
    private func readHere<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        return try writer.read(body)
    }

    /// - Returns: false when the disk has no room for the index.
    private func bringUpIndexes() async throws -> Bool {
        do {
            // Lost index entries are added again later.
            while try await change(isConfirmed: false, { [searchUpkeep] db in try searchUpkeep.index(db) }) {}
            return true
        } catch let error as StoreError where error.code == .diskFull {
            return false
        }
    }
}
