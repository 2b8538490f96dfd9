package import TidemarkEdge
package import TidemarkEmbeddedStore
package import TidemarkHub
package import TidemarkIdentity
import TidemarkModel
package import TidemarkNode
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// Every bound of a server that an operator may want to move.
package struct ServerLimits: Sendable {
    package var wire = WireLimits()
    package var edge = EdgeLimits()
    package var store = StoreLimits()
    package var node = NodeLimits()
    package var hub = HubLimits()
    package var lane = LaneLimits()
    package var accounts = AccountLimits()
    package var postgres = PostgresLimits()
    /// Its `limits` are not looked at: `store` holds for every store.
    package var embedded = EmbeddedStore.Options()

    package init() { wire.blobBytesMax = WireLimits.blobBytesDefault }
}

/// The bounds of a server's work on PostgreSQL. A program without PostgreSQL has them too, so that its settings are the same.
package struct PostgresLimits: Sendable {
    /// Connections for steps of the order: as many workspaces can be written at once.
    package var sequencingConnections = 4
    /// Connections for reads and registrations.
    package var readingConnections = 8
    /// Time for what is missing of the schema before a node can serve, waiting for other nodes that make it included.
    package var migrationTimeout: Duration = .seconds(600)
}

/// A bound that has an environment variable: `TIDEMARK_LIMIT_` and its name in capitals.
package struct LimitSetting: Sendable {
    /// Stands before a limit's name in the environment.
    package static let prefix = "TIDEMARK_LIMIT_"

    /// The limit that says the same as a setting, ``Setting/durable``.
    static let durableHours = prefix + "DURABLE_HOURS"

    package let variable: String
    /// What it bounds, with its unit.
    package let meaning: String
    let range: ClosedRange<Int>
    /// What counts when nothing is set.
    package let usual: Int
    let apply: @Sendable (inout ServerLimits, Int) -> Void

    /// - Parameter value: reads what `apply` writes.
    init(
        _ name: String, _ meaning: String, _ range: ClosedRange<Int>, _ value: (ServerLimits) -> Int,
        _ apply: @escaping @Sendable (inout ServerLimits, Int) -> Void
    ) {
        variable = Self.prefix + name
        self.meaning = meaning
        self.range = range
        usual = value(ServerLimits())
        self.apply = apply
    }

    init(
        _ name: String, _ meaning: String, _ range: ClosedRange<Int>,
        _ path: any WritableKeyPath<ServerLimits, Int> & Sendable
    ) {
        self.init(name, meaning, range, { $0[keyPath: path] }) { $0[keyPath: path] = $1 }
    }

    /// Without the prefix, as `--limit` takes it.
    package var name: String { String(variable.dropFirst(Self.prefix.count)) }

    /// What is said of a value that it does not take.
    var refusal: String {
        "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound): \(meaning); \(usual) by default"
    }

    /// All of them; what is not here is not for operators to move.
    package static let all: [LimitSetting] = [
        LimitSetting(
            "RATE", "transactions a second that one client may sustain", 1...1_000_000, \.wire.transactionsPerSecond),
        LimitSetting(
            "BURST", "transactions that one client may send at once after a pause", 1...10_000_000,
            \.wire.transactionsBurst),
        LimitSetting(
            "PUSHES", "pushes of one connection that are not settled yet", 1...10_000, \.wire.pushesInFlightMax),
        LimitSetting("CONNECTIONS", "open connections", 1...10_000_000, \.edge.connectionsMax),
        LimitSetting("CONNECTIONS_PER_USER", "connections of one user", 1...1_000_000, \.wire.connectionsPerUserMax),
        LimitSetting(
            "CALLS_PER_USER", "calls of one user over HTTP in progress, waiting pulls among them", 1...1_000_000,
            \.wire.callsPerUserMax),
        // A welcome that lists them all is a message that SDKs take, however long their names are.
        LimitSetting(
            "SCOPES", "scopes of one user on a connection; the oldest grants in excess are left out", 1...25_000,
            \.wire.scopesMax),
        LimitSetting(
            "STRANGERS_PER_ADDRESS", "unauthenticated connections of one address, 0 for any number", 0...1_000_000,
            { $0.edge.unauthenticatedPerAddressMax ?? 0 }
        ) { $0.edge.unauthenticatedPerAddressMax = $1 == 0 ? nil : $1 },
        LimitSetting("CLIENTS_PER_USER", "registered clients of one user", 1...1_000_000, \.store.clientsPerUserMax),
        LimitSetting("MESSAGE_BYTES", "bytes of one message or HTTP body", 4_096...67_108_864, \.wire.messageBytesMax),
        // SDKs take messages of 4 MiB: a larger record could be written and never be read.
        LimitSetting("RECORD_BYTES", "bytes of one record", 1_024...3_145_728, \.wire.model.recordBytesMax),
        LimitSetting(
            "TRANSACTION_BYTES", "bytes of one transaction", 2_048...16_777_216, \.wire.model.transactionBytesMax),
        LimitSetting(
            "WINDOW_BYTES", "bytes sent to a client and not acknowledged", 4_096...67_108_864, \.wire.windowBytesMax),
        LimitSetting(
            "WINDOW_FRAMES", "frames sent to a client and not acknowledged", 1...100_000, \.wire.windowFramesMax),
        LimitSetting(
            "EPHEMERAL_RATE", "ephemeral messages, such as typing, a second and connection", 1...10_000,
            \.wire.ephemeral.perSecond),
        LimitSetting(
            "EPHEMERAL_BYTES", "bytes of the payload of an ephemeral message", 64...65_536,
            \.wire.ephemeral.payloadBytesMax),
        LimitSetting(
            "LEDGER_DAYS", "days for which an overwritten value is kept, 0 for none", 0...36_500,
            { Int($0.store.ledgerLifetime / 86_400_000) }
        ) {
            $0.store.ledgerLifetime = Int64($1) * 86_400_000
            $0.node.compaction.ledgerLifetime = $0.store.ledgerLifetime
        },
        LimitSetting(
            "LOG_DAYS",
            "days for which the authors of writes are kept for operators, in the last 65536 changes of a workspace; 0 "
                + "for no longer than other servers need them", 0...36_500,
            { Int($0.store.logLifetime / 86_400_000) }
        ) {
            $0.store.logLifetime = Int64($1) * 86_400_000
        },
        LimitSetting(
            "KEEP_DAYS",
            "days for which deletions are remembered for devices that are away; one that returns later fetches anew. "
                + "'tidemark compact' sets it for one workspace", 1...36_500,
            { Int($0.node.compaction.keep / 86_400_000) }
        ) { $0.node.compaction.keep = Int64($1) * 86_400_000 },
        LimitSetting(
            "DURABLE_HOURS",
            "hours after which a commit is safe from a restored backup or a failover; until then devices keep what "
                + "they wrote, and offer it again. The same as --durable age=HOURSh", 1...87_600,
            { if case .age(let age) = $0.node.durable { Int(age.components.seconds / 3_600) } else { 0 } }
        ) { $0.node.durable = .age(.seconds(3_600 * $1)) },
        LimitSetting(
            "STANDBY_SECONDS", "seconds between two looks at the standbys, with --durable replicas", 1...3_600,
            { Int($0.node.standbysEvery.components.seconds) }
        ) { $0.node.standbysEvery = .seconds($1) },
        LimitSetting(
            "BLOB_BYTES", "bytes of one blob, 0 for no blobs", 0...1_073_741_824, { $0.wire.blobBytesMax ?? 0 }
        ) { $0.wire.blobBytesMax = $1 == 0 ? nil : $1 },
        LimitSetting(
            "BLOB_QUOTA_BYTES", "bytes of a workspace's blobs", 0...1_099_511_627_776_000,
            { Int($0.store.blobBytesPerWorkspaceMax) }
        ) { $0.store.blobBytesPerWorkspaceMax = Int64($1) },
        LimitSetting("BLOB_UPLOADS", "uploads of blobs at once, each in memory", 1...10_000, \.node.blobs.uploadsMax),
        LimitSetting(
            "RING_BYTES", "bytes of recent changes in memory", 4_096...1_099_511_627_776, \.hub.ringBytesMax),
        LimitSetting(
            "MIGRATION_MINUTES", "minutes for bringing PostgreSQL's tables up to date at a start", 1...100_000,
            { Int($0.postgres.migrationTimeout.components.seconds / 60) }
        ) { $0.postgres.migrationTimeout = .seconds(60 * $1) },
        LimitSetting(
            "POSTGRES_WRITERS", "connections to PostgreSQL that write; as many workspaces are written at once",
            1...1_000,
            \.postgres.sequencingConnections),
        LimitSetting(
            "POSTGRES_READERS", "connections to PostgreSQL that read", 1...1_000, \.postgres.readingConnections),
        LimitSetting(
            "PASSWORD_COST",
            "the base-2 logarithm of scrypt's N for passwords: each hash uses 2^(this + 10) bytes for a "
                + "moment", 14...18, { $0.accounts.cost.rounds }
        ) { $0.accounts.cost = ScryptCost(rounds: $1) ?? .usual },
        LimitSetting(
            "PASSWORDS_AT_ONCE", "hashes of passwords that are computed at once", 1...64, \.accounts.hashesAtOnce),
        LimitSetting(
            "PASSWORDS_WAITING", "hashes of passwords that wait; one more is refused", 0...10_000,
            \.accounts.hashesWaitingMax),
        LimitSetting(
            "TOKEN_MINUTES", "minutes for which an access token of an account is valid", 1...1_440,
            { $0.accounts.tokenSeconds / 60 }
        ) { $0.accounts.tokenSeconds = 60 * $1 },
        LimitSetting(
            "SIGN_IN_DAYS", "days after which an unused device must log in again", 1...3_650,
            { Int($0.accounts.idleMax / 86_400_000) }
        ) { $0.accounts.idleMax = Int64($1) * 86_400_000 },
        LimitSetting(
            "RESET_MINUTES", "minutes for which a reset token is valid", 5...1_440,
            { Int($0.accounts.resetLifetime / 60_000) }
        ) { $0.accounts.resetLifetime = Int64($1) * 60_000 },
        LimitSetting("SQLITE_READERS", "connections that read a SQLite file", 1...100, \.embedded.readersMax),
    ]
}

extension ServerLimits {
    /// Takes over what the environment sets.
    mutating func apply(_ environment: [String: String]) throws(ConfigurationError) {
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(LimitSetting.prefix) {
            guard let setting = LimitSetting.all.first(where: { $0.variable == variable }) else {
                let name = variable.dropFirst(LimitSetting.prefix.count)
                let names = LimitSetting.all.map(\.name).joined(separator: ", ")
                throw ConfigurationError(variable, "there is no limit \(name); those that exist: \(names)")
            }
            guard let value = Int(text), setting.range.contains(value) else {
                throw ConfigurationError(variable, setting.refusal)
            }
            setting.apply(&self, value)
        }
        try fitSizes(isSet: { environment[LimitSetting.prefix + $0] != nil })
        // What the edge lets through is what the protocol allows.
        edge.messageBytesMax = wire.messageBytesMax
        edge.requestBodyBytesMax = wire.messageBytesMax
        edge.blobBytesMax = wire.blobBytesMax
    }

    /// What a transaction carries besides a record of the largest size, and a message besides a transaction.
    private static let envelopeBytes = 1_024

    /// Makes each size that was set fit into the next one, so that what is told to clients is what they may send: sizes
    /// that nobody set follow those that are set.
    private mutating func fitSizes(isSet: (String) -> Bool) throws(ConfigurationError) {
        let room = Self.envelopeBytes
        let (setsRecord, setsTransaction, setsMessage) = (
            isSet("RECORD_BYTES"), isSet("TRANSACTION_BYTES"), isSet("MESSAGE_BYTES")
        )
        var (record, transaction) = (wire.model.recordBytesMax, wire.model.transactionBytesMax)
        var bindsRecord = setsTransaction
        if !setsTransaction, setsMessage, wire.messageBytesMax - room < transaction {
            transaction = wire.messageBytesMax - room
            bindsRecord = true
        }
        if !setsTransaction, setsRecord { transaction = max(transaction, record + room) }
        if !setsRecord, bindsRecord { record = min(record, transaction - room) }
        if !setsMessage { wire.messageBytesMax = max(wire.messageBytesMax, transaction + room) }
        wire.model.recordBytesMax = record
        wire.model.transactionBytesMax = transaction
        if setsRecord { try require(record, "RECORD_BYTES", in: transaction, "TRANSACTION_BYTES") }
        let largest = setsTransaction ? "TRANSACTION_BYTES" : "RECORD_BYTES"
        if setsMessage, setsTransaction || setsRecord {
            try require(transaction, largest, in: wire.messageBytesMax, "MESSAGE_BYTES")
        }
    }

    private func require(
        _ size: Int, _ name: String, in bound: Int, _ outer: String
    ) throws(ConfigurationError) {
        let least = size + Self.envelopeBytes
        guard least > bound else { return }
        throw ConfigurationError(
            LimitSetting.prefix + name,
            "does not fit into \(LimitSetting.prefix)\(outer), which is \(bound): set that to \(least) or more")
    }
}
