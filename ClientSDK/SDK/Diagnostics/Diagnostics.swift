public import Foundation

/// Everything that a device knows about its own synchronisation: look here first when something seems wrong.
///
///     let diagnostics = try await store.diagnostics()
///     for write in diagnostics.outbox { print(write.number, write.state, write.lastError ?? "") }
///
/// It contains ids, counts and error texts, and no field values, so it can be sent to support.
public struct Diagnostics: Codable, Hashable, Sendable {
    /// The user who owns the database.
    public var account: String
    /// The install's id, by which the server knows the device.
    public var client: String
    /// True when the server has welcomed this client id.
    public var isRegistered: Bool
    /// True when the device has a cursor; without one, the first connection fetches everything.
    public var hasCursor: Bool
    /// The number of the last write.
    public var lastNumber: Int64
    /// The number up to which outcomes are durable on this device.
    public var acknowledgedThrough: Int64
    /// The version of the app's schema that defines the tables.
    public var schemaVersion: Int64
    /// The version of the database's own layout.
    public var format: Int64
    /// The size of the database in bytes, without its log; 0 for a store in memory.
    public var databaseBytes: Int64
    /// The transactions that wait to be sent or answered, oldest first.
    public var outbox: [QueuedWrite]
    /// The settled transactions that are kept in case the server's database goes back.
    public var journal: JournalState
    /// The number of kept records that the server lost when its database went back; see `SyncStore.lostRecords()`.
    public var rescued: Int64
    /// The transactions that the server refused permanently, oldest first.
    public var parked: [ParkedWrite]
    /// The held scopes, sorted by name.
    public var scopes: [ScopeState]
    /// The number of the user's scopes that the server left out at the last welcome, because a connection holds no
    /// more: the oldest ones. `nil` when none is missing.
    public var scopesLeftOut: Int64?
    /// The app's collections, sorted by name.
    public var collections: [CollectionState]
    /// The blobs: bytes that records refer to.
    public var blobs: BlobState
    /// The records that reads of this process left out because their model cannot hold them, sorted by collection and
    /// id; at most a thousand. Empty when a file is inspected from outside.
    public var undecodable: [UndecodableState]
    /// The filters of this process that no index answers, sorted by collection and fields. Each such read scans all
    /// records of a scope or of the collection. Empty when a file is inspected from outside.
    public var unindexed: [UnindexedFilter]
    /// The running observations of this process, with their subjects and origins; the diagnostics' own reads are not
    /// among them. `nil` when a file is inspected from outside.
    public var activeObservations: [ActiveObservation]?
    /// The state of the folder that the app shares with its extensions; `nil` without one, and when a file is inspected
    /// from outside.
    public var sharing: SharingState?
    /// The result of comparing the copy with the server; `nil` before the first comparison.
    public var comparison: Comparison?
    /// The recovery from a damaged file before this one; `nil` when there was none.
    public var damage: Damage?
    /// The digests of the copy; only in an exported report, because they require reading everything.
    public var copy: CopyState?
    /// The engine's last steps, without values, for `tide replay`; only in an exported report.
    public var recording: [String]?

    /// The comparison of the copy with the server. It runs once a day, and on request.
    public struct Comparison: Codable, Hashable, Sendable {
        /// The start of the last comparison, by the device's clock.
        public var began: Date
        /// The number of record ranges that are still to be compared; 0 when the comparison is complete.
        public var ranges: Int64
        /// The number of the server's records that the last comparison has covered.
        public var records: Int64
        /// The number of records that differed from the server's, in all comparisons so far. It should stay 0.
        public var differences: Int64
    }

    /// A damaged file, and what was recovered from it.
    public struct Damage: Codable, Hashable, Sendable {
        /// The time when the damage was found, by the device's clock.
        public var found: Date
        /// The first error that was found.
        public var reason: String
        /// The present name of the damaged file.
        public var file: String
        /// The number of recovered transactions that will be sent.
        public var pending: Int
        /// The number of recovered transactions that the app has to decide on.
        public var parked: Int
        /// The number of transactions of which only parts could be read.
        public var unreadable: Int
        /// The number of recovered blobs that will be sent.
        public var blobs: Int
        /// The number of blobs of which only parts could be read.
        public var unreadableBlobs: Int
    }

    /// The settled transactions that are kept.
    public struct JournalState: Codable, Hashable, Sendable {
        /// Their number.
        public var transactions: Int64
        /// The bytes of their bodies.
        public var bytes: Int64
        /// The time when the oldest was settled, by the server's clock.
        public var oldest: Date?
    }

    /// A transaction of the outbox.
    public struct QueuedWrite: Codable, Hashable, Sendable {
        /// The number under which it is sent. Transactions without one have a placeholder far above all numbers.
        public var number: Int64
        /// The transaction's id, the same on the server.
        public var id: String
        /// The state: `queued`, `sending`, `reoffered` (settled once, and lost by the server), `held` (parked while on
        /// its way), `void` (only its number is sent), `withdrawn` or `waiting` (too often unanswered, or behind such a
        /// transaction).
        public var state: String
        /// The time of the write, by the device's clock.
        public var created: Date
        /// The number of attempts to send it.
        public var attempts: Int64
        /// The time of the last attempt, by the device's clock.
        public var lastAttempt: Date?
        /// The error of the last attempt.
        public var lastError: String?
        /// The mutations, such as `create messages/018f…`.
        public var actions: [String]
    }

    /// A transaction that the server refused.
    public struct ParkedWrite: Codable, Hashable, Sendable {
        /// The transaction's id, the same on the server.
        public var id: String
        /// The code of the refusal, as the protocol spells it.
        public var code: String
        /// The refusal in words.
        public var message: String
        /// The time when the device learned of it, by its own clock.
        public var parked: Date
        /// The mutations that did not take effect, such as `create messages/018f…`.
        public var actions: [String]
    }

    /// A record that a model cannot hold.
    public struct UndecodableState: Codable, Hashable, Sendable {
        /// The record's collection.
        public var collection: String
        /// The record's id.
        public var id: String
        /// The model's type.
        public var model: String
        /// The field in question; `nil` when the model names none.
        public var field: String?
        /// Whether the field is not set or its value cannot be decoded.
        public var problem: UndecodableRecord.Problem
    }

    /// A filter, or several alike, that no index answers. `"index": true` in the schema adds an index to a field.
    public struct UnindexedFilter: Codable, Hashable, Sendable {
        /// The collection's name.
        public var collection: String
        /// The fields of the filter that have no index. If an index does not help, as for members of sets and `!=`, all
        /// fields of the filter.
        public var fields: [String]
        /// The records that each read scans: `scope` for those of one scope, `collection` for all.
        public var reads: String
    }

    /// A scope that the account is a member of.
    public struct ScopeState: Codable, Hashable, Sendable {
        /// A record's id, or the name of a shared scope.
        public var scope: String
        /// The number of the grant.
        public var since: Int64
        /// The account's role in it, as the schema spells it.
        public var role: String
        /// True when all of its records are on the device.
        public var isComplete: Bool
        /// The collections whose older records are still missing, each with its oldest creation number on the device.
        public var filling: [Filling]
    }

    /// The oldest point to which one collection of a scope is filled.
    public struct Filling: Codable, Hashable, Sendable {
        /// The collection's name.
        public var collection: String
        /// The oldest creation number on the device; `nil` before the first page.
        public var floor: Int64?
    }

    /// The rows of one collection.
    public struct CollectionState: Codable, Hashable, Sendable {
        /// The collection's name.
        public var name: String
        /// The number of rows.
        public var rows: Int64
        /// The number of rows with writes that the server has not settled.
        public var pending: Int64
        /// The number of rows whose last write was refused.
        public var failed: Int64
        /// The highest sequence number of the rows.
        public var newest: Int64
    }
}
