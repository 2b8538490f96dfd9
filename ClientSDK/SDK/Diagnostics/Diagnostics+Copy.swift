import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

extension Diagnostics {
    /// The content of the copy, as digests. With it, an operator can check whether this device has the records that it
    /// should (`tidemark verify --device`). It contains no field values.
    public struct CopyState: Codable, Hashable, Sendable {
        /// The cursor of the copy, as the server gave it; `nil` for an empty copy.
        public var cursor: String?
        /// The scopes that are not being filled, sorted by name.
        public var scopes: [ScopeCopy]
    }

    /// The part of the copy that belongs to one scope.
    public struct ScopeCopy: Codable, Hashable, Sendable {
        /// The scope's name.
        public var scope: String
        /// The number of the grant under which it is held.
        public var since: Int64
        /// The collections, sorted by their names at the server.
        public var collections: [CollectionCopy]
    }

    /// The records of one collection in a scope, without pending writes.
    public struct CollectionCopy: Codable, Hashable, Sendable {
        /// The collection's name in the server's schema.
        public var collection: String
        /// The smallest creation number in the copy; older records were evicted, or never fetched.
        public var from: Int64
        /// The number of records.
        public var records: Int64
        /// The sum of the records' terms, 32 hexadecimal digits (`Shared/DIGEST.md`).
        public var digest: String
    }
}

extension LocalDatabase {
    /// Reads and hashes the whole copy.
    func copyState(_ db: Database) throws -> Diagnostics.CopyState {
        let (records, comparison, scopes) = (RecordTable(db, self), ComparisonTable(db: db), ScopeTable(db: db))
        var state = Diagnostics.CopyState(cursor: try Meta.cursor.text(db), scopes: [])
        for held in try scopes.all() where try !scopes.isFetching(held.scope) {
            var copy = Diagnostics.ScopeCopy(scope: held.scope.text, since: held.since, collections: [])
            for (name, table) in tables.sorted(by: { $0.key < $1.key }) {
                guard let floor = try comparison.floor(of: name, in: held.scope) else { continue }
                let digest = try ComparedRange(records: records, table: table, scope: held.scope)
                    .digest(of: floor..<SequenceNumber.max, at: .max)
                copy.collections.append(
                    .init(
                        collection: names.stored(name), from: floor, records: digest.count, digest: digest.text))
            }
            state.scopes.append(copy)
        }
        return state
    }
}
