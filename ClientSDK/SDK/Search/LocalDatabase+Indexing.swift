import GRDB
import TidemarkLock

/// A search met rows that are not in its index yet.
struct RowsWait: Error {
    init() { SearchDemand.current?.note() }
}

/// Whether what is being read searches where rows wait; also where the closure that reads has caught the error.
private final class SearchDemand: Sendable {
    @TaskLocal static var current: SearchDemand?

    private let isNoted = Lock(false)

    func note() { isNoted.set(true) }

    /// - Returns: `nil` when rows were missing in what `body` has read.
    static func meeting<Value>(_ body: () throws -> Value) throws -> Value? {
        let demand = SearchDemand()
        let result = Result { try $current.withValue(demand, operation: body) }
        return demand.isNoted.current ? nil : try result.get()
    }
}

extension LocalDatabase {
    /// Tries of a reader before the writer reads by itself.
    private static let indexedReadsMax = 2

    /// Reads, with a full-text index that has every row. Where it is behind, it is brought up and `body` runs again.
    ///
    /// Rows may come as fast as they are indexed, and a full disk takes no index: then the writer indexes, reads and takes
    /// the index back, in a transaction that is never committed.
    func readIndexed<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        do { return try await readingIndexes(body) } catch { throw StoreError.naming(error) }
    }

    private func readingIndexes<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        for _ in 0..<Self.indexedReadsMax {
            do {
                let value = try await writer.read { db in try SearchDemand.meeting { try body(db) } }
                if let value { return value }
            } catch let error as DatabaseError where error.isOfSearch {
                try await change(isConfirmed: false) { [searchUpkeep] db in try searchUpkeep.forget(db) }
            }
            guard try await bringUpIndexes() else { break }
        }
        return try await writer.writeWithoutTransaction { [searchUpkeep] db in
            // Until the body has run.
            var result = Result<Value, any Error>.failure(CancellationError())
            try db.inTransaction {
                // What was added leaves memory with the savepoint: reading must not have to write it.
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

    /// - Returns: false when the disk has no room for it.
    private func bringUpIndexes() async throws -> Bool {
        do {
            // What is lost of it is indexed again.
            while try await change(isConfirmed: false, { [searchUpkeep] db in try searchUpkeep.index(db) }) {}
            return true
        } catch let error as StoreError where error.code == .diskFull {
            return false
        }
    }
}
