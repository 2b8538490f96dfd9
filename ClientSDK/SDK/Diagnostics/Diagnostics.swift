public import Foundation

/// Everything that a device knows of its own synchronisation: the one place to look when something seems wrong.
///
///     let diagnostics = try await store.diagnostics()
///     for write in diagnostics.outbox { print(write.number, write.state, write.lastError ?? "") }
///
/// It holds ids, counts and error texts, no field values, so that it can be sent to support.
public struct Diagnostics: Codable, Hashable, Sendable {
    /// The user whose database it is.
    public var account: String
    /// The install's id; the server knows the device by it.
    public var client: String
    /// The server has welcomed this client id.
    public var isRegistered: Bool
    /// The device stands somewhere in the workspace's order; without it the first connection fetches everything.
    public var hasCursor: Bool
    /// The number given to the last write.
    public var lastNumber: Int64
    /// Outcomes up to this number are durable here.
    public var acknowledgedThrough: Int64
    /// The version of the app's schema that shaped the tables.
    public var schemaVersion: Int64
    /// The database's own layout.
    public var format: Int64
    /// Bytes of the database without its log; 0 for a store in memory.
    public var databaseBytes: Int64
    /// What waits to be sent or to be answered, oldest first.
    public var outbox: [QueuedWrite]
    /// Settled transactions that are kept for the case that the server's database goes back.
    public var journal: JournalState
    /// Records that the server lost when its database went back, and that are kept: `SyncStore.rescued()` has them.
    public var rescued: Int64
    /// What was refused for good, oldest first.
    public var parked: [ParkedWrite]
    /// The scopes that are held, by name.
    public var scopes: [ScopeState]
    /// Scopes of the user that the server left out when it welcomed the device last, since a connection holds no more: the
    /// oldest ones. `nil` where all are here.
    public var scopesLeftOut: Int64?
    /// The app's collections, by name.
    public var collections: [CollectionState]
    /// The bytes that records name.
    public var blobs: BlobState
    /// Records that reads of this process set aside since their model cannot hold them, by collection and id; the first
    /// thousand. None in a file that is only looked into.
    public var undecodable: [UndecodableState]
    /// Filters of this process that no index answers, by collection and fields: each such read goes through all records
    /// of a scope or of the collection. None in a file that is only looked into.
    public var unindexed: [UnindexedFilter]
    /// Observations of this process that run, by what they read and where they began; the diagnostics read none themselves.
    /// `nil` in a file that is only looked into.
    public var activeObservations: [ActiveObservation]?
    /// What the app shares with its extensions; `nil` without a shared folder, and in a file that is only looked into.
    public var sharing: SharingState?
    /// How the copy compared with the server; `nil` before the first time.
    public var comparison: Comparison?
    /// What happened when the file before this one was found damaged; `nil` when none was.
    public var damage: Damage?
    /// What the copy holds, in digests; only in an exported report, since all of it is read.
    public var copy: CopyState?
    /// The engine's last steps, without values, for `tide replay`; only in an exported report.
    public var recording: [String]?

    /// The comparison of the copy with the server, which takes place once a day, and when it is asked for.
    public struct Comparison: Codable, Hashable, Sendable {
        /// When the last one began, by the device's clock.
        public var began: Date
        /// Ranges of records that are still to be compared; 0 when it is over.
        public var ranges: Int64
        /// The server's records that the last one has gone through.
        public var records: Int64
        /// Records that were otherwise here than at the server, in all comparisons so far. Should stay 0.
        public var differences: Int64
    }

    /// A damaged file, and what was saved of it.
    public struct Damage: Codable, Hashable, Sendable {
        /// When it was found, by the device's clock.
        public var found: Date
        /// What was found first.
        public var reason: String
        /// The name that the damaged file has now.
        public var file: String
        /// Transactions that were kept to be sent.
        public var pending: Int
        /// Transactions that were kept to be decided on.
        public var parked: Int
        /// Transactions of which something could be read, and not enough.
        public var unreadable: Int
        /// Blobs that were kept to be sent.
        public var blobs: Int
        /// Blobs of which not all bytes could be read.
        public var unreadableBlobs: Int
    }

    /// What is kept of settled transactions.
    public struct JournalState: Codable, Hashable, Sendable {
        /// How many there are.
        public var transactions: Int64
        /// Bytes of their bodies.
        public var bytes: Int64
        /// When the oldest was settled, by the server's clock.
        public var oldest: Date?
    }

    /// A transaction of the outbox.
    public struct QueuedWrite: Codable, Hashable, Sendable {
        /// The number that it is sent under; what waits without one has a number far above them.
        public var number: Int64
        /// The transaction's id, the same on the server.
        public var id: String
        /// `queued`, `sending`, `reoffered` (settled once, and lost by the server), `held` (parked while on its way), `void` (only its number is sent), `withdrawn` or
        /// `waiting` (got no answer too often, or stands behind one that did).
        public var state: String
        /// When it was written, by the device's clock.
        public var created: Date
        /// How often it was given out for sending.
        public var attempts: Int64
        /// When it was given out last, by the device's clock.
        public var lastAttempt: Date?
        /// Why the last sending did not succeed.
        public var lastError: String?
        /// What it does: `create messages/018f…`.
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
        /// When the device learned of it, by its clock.
        public var parked: Date
        /// What it would have done: `create messages/018f…`.
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
        /// The field in question; `nil` where the model names none.
        public var field: String?
        /// The field is not set, or its value does not decode.
        public var problem: UndecodableRecord.Problem
    }

    /// A filter, or several alike, that no index answers. `"index": true` in the schema gives its field one.
    public struct UnindexedFilter: Codable, Hashable, Sendable {
        /// The collection's name.
        public var collection: String
        /// The fields of the filter that have no index; all of its fields where one does not help, as for members of sets
        /// and `!=`.
        public var fields: [String]
        /// What each read goes through: `scope` for the records of one scope, `collection` for all.
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
        /// All of its records are here.
        public var isComplete: Bool
        /// Collections whose older records are still to come, each with the oldest creation that is here.
        public var filling: [Filling]
    }

    /// How far back one collection of a scope reaches.
    public struct Filling: Codable, Hashable, Sendable {
        /// The collection's name.
        public var collection: String
        /// `nil` before the first page.
        public var floor: Int64?
    }

    /// The rows of one collection.
    public struct CollectionState: Codable, Hashable, Sendable {
        /// The collection's name.
        public var name: String
        /// How many there are.
        public var rows: Int64
        /// Rows that show writes which the server has not settled.
        public var pending: Int64
        /// Rows whose last write was refused.
        public var failed: Int64
        /// The highest sequence number among them.
        public var newest: Int64
    }
}
