package import TidemarkEdge
package import TidemarkEmbeddedStore
package import TidemarkHub
package import TidemarkIdentity
import TidemarkModel
package import TidemarkNode
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// The bounds of a server that an operator may change.
package struct ServerLimits: Sendable {
    package var wire = WireLimits()
    package var edge = EdgeLimits()
    package var store = StoreLimits()
    package var node = NodeLimits()
    package var hub = HubLimits()
    package var lane = LaneLimits()
    package var accounts = AccountLimits()
    package var postgres = PostgresLimits()
    /// Options of SQLite; their `limits` are ignored: `store` is for every store.
    package var embedded = EmbeddedStore.Options()

    package init() { wire.blobBytesMax = WireLimits.blobBytesDefault }
}

/// The bounds of a server's work on PostgreSQL. A program without PostgreSQL has them too, so that its settings are the same.
package struct PostgresLimits: Sendable {
    /// Connections for steps of the order: the number of workspaces that can be written at once.
    package var sequencingConnections = 4
    /// Connections for reads and registrations.
    package var readingConnections = 8
    /// The time for schema steps that a node needs before it serves, including the wait for other nodes that do them.
    package var migrationTimeout: Duration = .seconds(600)
}

/// A bound that has an environment variable: `TIDEMARK_LIMIT_` and its name in capitals.
package struct LimitSetting: Sendable {
    /// The prefix of a limit's variable in the environment.
    package static let prefix = "TIDEMARK_LIMIT_"

    /// The variable of the limit that has the same meaning as ``Setting/durable``.
    static let durableHours = prefix + "DURABLE_HOURS"

    package let variable: String
    /// The bounded quantity, with its unit.
    package let meaning: String
    let range: ClosedRange<Int>
    /// The default.
    package let usual: Int
    let apply: @Sendable (inout ServerLimits, Int) -> Void

    /// - Parameter value: reads the value that `apply` writes.
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

    /// The name without the prefix, for `--limit`.
    package var name: String { String(variable.dropFirst(Self.prefix.count)) }

    /// The error for an invalid value.
    var refusal: String {
        "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound): \(meaning); \(usual) by default"
    }

    /// All limits that operators may change.
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
        // A welcome that lists them all fits into the messages that SDKs accept, however long the names are.
        LimitSetting(
            "SCOPES", "scopes of one user on a connection; beyond that, the oldest grants are left out", 1...25_000,
            \.wire.scopesMax),
        LimitSetting(
            "STRANGERS_PER_ADDRESS", "unauthenticated connections of one address, 0 for any", 0...1_000_000,
            { $0.edge.unauthenticatedPerAddressMax ?? 0 }
        ) { $0.edge.unauthenticatedPerAddressMax = $1 == 0 ? nil : $1 },
        LimitSetting("CLIENTS_PER_USER", "registered clients of one user", 1...1_000_000, \.store.clientsPerUserMax),
        LimitSetting("MESSAGE_BYTES", "bytes of one message or HTTP body", 4_096...67_108_864, \.wire.messageBytesMax),
        // SDKs accept messages of 4 MiB: a larger record could be written and never be read.
        LimitSetting("RECORD_BYTES", "bytes of one record", 1_024...3_145_728, \.wire.model.recordBytesMax),
        LimitSetting(
            "TRANSACTION_BYTES", "bytes of one transaction", 2_048...16_777_216, \.wire.model.transactionBytesMax),
        LimitSetting(
            "WINDOW_BYTES", "bytes sent to a client and not acknowledged", 4_096...67_108_864, \.wire.windowBytesMax),
        LimitSetting(
            "WINDOW_FRAMES", "frames sent to a client and not acknowledged", 1...100_000, \.wire.windowFramesMax),
        LimitSetting(
            "EPHEMERAL_RATE", "messages that are not kept, such as typing, a second and connection", 1...10_000,
            \.wire.ephemeral.perSecond),
        LimitSetting(
            "EPHEMERAL_BYTES", "bytes of such a message's payload", 64...65_536, \.wire.ephemeral.payloadBytesMax),
        LimitSetting(
            "LEDGER_DAYS", "days that an overwritten value is kept, 0 for none", 0...36_500,
            { Int($0.store.ledgerLifetime / 86_400_000) }
        ) {
            $0.store.ledgerLifetime = Int64($1) * 86_400_000
            $0.node.compaction.ledgerLifetime = $0.store.ledgerLifetime
        },
        LimitSetting(
            "LOG_DAYS",
            "days that the author of each of a workspace's last 65536 changes is kept for operators; 0 for no longer "
                + "than other servers need it", 0...36_500,
            { Int($0.store.logLifetime / 86_400_000) }
        ) {
            $0.store.logLifetime = Int64($1) * 86_400_000
        },
        LimitSetting(
            "KEEP_DAYS",
            "days that deletions are remembered for absent devices; later ones fetch everything anew. "
                + "'tidemark compact' sets it for one workspace", 1...36_500,
            { Int($0.node.compaction.keep / 86_400_000) }
        ) { $0.node.compaction.keep = Int64($1) * 86_400_000 },
        LimitSetting(
            "DURABLE_HOURS",
            "hours after which a commit is treated as safe from a restored backup or a failover; until then devices"
                + " keep their writes, and offer them again. The same as --durable age=HOURSh", 1...87_600,
            { if case .age(let age) = $0.node.durable { Int(age.components.seconds / 3_600) } else { 0 } }
        ) { $0.node.durable = .age(.seconds(3_600 * $1)) },
        LimitSetting(
            "STANDBY_SECONDS", "seconds between two checks of the standbys, with --durable replicas", 1...3_600,
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
            "the power of two of scrypt's N for passwords: each hash uses 2^(this + 10) bytes of memory while it is "
                + "computed", 14...18, { $0.accounts.cost.rounds }
        ) { $0.accounts.cost = ScryptCost(rounds: $1) ?? .usual },
        LimitSetting(
            "PASSWORDS_AT_ONCE", "hashes of passwords that are computed at once", 1...64, \.accounts.hashesAtOnce),
        LimitSetting(
            "PASSWORDS_WAITING", "hashes of passwords that wait; one more is refused", 0...10_000,
            \.accounts.hashesWaitingMax),
        LimitSetting(
            "TOKEN_MINUTES", "minutes that an account's access token is valid", 1...1_440,
            { $0.accounts.tokenSeconds / 60 }
        ) { $0.accounts.tokenSeconds = 60 * $1 },
        LimitSetting(
            "SIGN_IN_DAYS", "days without use after which a device has to log in again", 1...3_650,
            { Int($0.accounts.idleMax / 86_400_000) }
        ) { $0.accounts.idleMax = Int64($1) * 86_400_000 },
        LimitSetting(
            "RESET_MINUTES", "minutes that a token for setting a new password is valid", 5...1_440,
            { Int($0.accounts.resetLifetime / 60_000) }
        ) { $0.accounts.resetLifetime = Int64($1) * 60_000 },
        LimitSetting("SQLITE_READERS", "connections that read a SQLite file", 1...100, \.embedded.readersMax),
    ]
}

extension ServerLimits {
    /// Applies the limits of an environment.
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
        // The edge accepts as much as the protocol allows.
        edge.messageBytesMax = wire.messageBytesMax
        edge.requestBodyBytesMax = wire.messageBytesMax
        edge.blobBytesMax = wire.blobBytesMax
    }

    /// The bytes of a transaction around a record of the largest size, and of a message around a transaction.
    private static let envelopeBytes = 1_024

    /// Makes each size fit into the next one, so that clients may send what the server announces: sizes that are not
    /// set follow those that are.
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
