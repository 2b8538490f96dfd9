public import Foundation

/// Everything that a device knows of its own synchronisation: the one place to look when something seems wrong.
///
///     let diagnostics = try await store.diagnostics()
///     for write in diagnostics.outbox { print(write.number, write.state, write.lastError ?? "") }
///
/// It holds ids, counts and error texts, no field values, so that it can be sent to support.
public struct Diagnostics: Codable, Hashable, Sendable {
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
    public var schemaVersion: Int64
    /// The database's own layout.
    public var format: Int64
    /// Bytes of the database without its log; 0 for a store in memory.
    public var databaseBytes: Int64
    /// What waits to be sent or to be answered, oldest first.
    public var outbox: [QueuedWrite]
    /// What was refused for good, oldest first.
    public var parked: [ParkedWrite]
    public var scopes: [ScopeState]
    public var collections: [CollectionState]

    /// A transaction of the outbox.
    public struct QueuedWrite: Codable, Hashable, Sendable {
        public var number: Int64
        public var id: String
        /// `queued`, `sending`, `held` (parked while on its way) or `void` (only its number is sent).
        public var state: String
        public var created: Date
        public var attempts: Int64
        public var lastError: String?
        /// What it does: `create messages/018f…`.
        public var actions: [String]
    }

    /// A transaction that the server refused.
    public struct ParkedWrite: Codable, Hashable, Sendable {
        public var id: String
        /// The code of the refusal, as the protocol spells it.
        public var code: String
        public var message: String
        public var parked: Date
        public var actions: [String]
    }

    /// A scope that the account is a member of.
    public struct ScopeState: Codable, Hashable, Sendable {
        public var scope: String
        /// The number of the grant.
        public var since: Int64
        public var role: String
        /// All of its records are here.
        public var isComplete: Bool
        /// Collections whose older records are still to come, each with the oldest creation that is here.
        public var filling: [Filling]
    }

    /// How far back one collection of a scope reaches.
    public struct Filling: Codable, Hashable, Sendable {
        public var collection: String
        /// `nil` before the first page.
        public var floor: Int64?
    }

    /// The rows of one collection.
    public struct CollectionState: Codable, Hashable, Sendable {
        public var name: String
        public var rows: Int64
        /// Rows that show writes which the server has not settled.
        public var pending: Int64
        /// Rows whose last write was refused.
        public var failed: Int64
        /// The highest sequence number among them.
        public var newest: Int64
    }
}
