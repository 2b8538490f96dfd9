import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

extension Diagnostics {
    /// What the copy holds of the server's, in digests: with it whoever runs the server can say whether this device has what it
    /// should (`tidemark verify --device`). No field values are in it.
    public struct CopyState: Codable, Hashable, Sendable {
        /// Where the copy stands, as the server gave it; `nil` for an empty one.
        public var cursor: String?
        /// By name, those that are not being filled.
        public var scopes: [ScopeCopy]
    }

    /// What the copy holds of a scope.
    public struct ScopeCopy: Codable, Hashable, Sendable {
        /// Its name.
        public var scope: String
        /// The number of the grant under which it is held.
        public var since: Int64
        /// By name, as the server calls them.
        public var collections: [CollectionCopy]
    }

    /// What the copy holds of a collection in a scope, without writes that are pending.
    public struct CollectionCopy: Codable, Hashable, Sendable {
        /// Its name in the server's schema.
        public var collection: String
        /// Records that were created from this number on; older ones were evicted, or not fetched.
        public var from: Int64
        /// How many there are.
        public var records: Int64
        /// The sum of the records' terms, 32 hexadecimal digits (`Shared/DIGEST.md`).
        public var digest: String
    }
}

extension LocalDatabase {
    /// Reads and hashes all that is held.
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
