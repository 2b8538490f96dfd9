extension Metric {
    /// The metric's label; `nil` for a metric that is one series.
    package var label: Label? {
        switch self {
        case .transactions: Label(name: "outcome", values: Self.outcomes)
        case .sockets: Label(name: "state", values: SocketState.allCases.map(\.rawValue))
        case .refusals: Label(name: "code", values: Self.refusalCodes)
        case .closes: Label(name: "code", values: Self.closeCodes)
        case .tokensRefused: Label(name: "reason", values: Self.tokenReasons)
        case .signInsRefused: Label(name: "reason", values: Self.signInReasons)
        case .storeWait, .storeUse: Label(name: "read", values: StoreRead.allCases.map(\.rawValue))
        case .storeFault: Label(name: "fault", values: Self.faults)
        case .poolWriters, .poolReaders: Label(name: "state", values: PoolState.allCases.map(\.rawValue))
        case .openingsFailed: Label(name: "reason", values: Self.openingFaults)
        case .certificateReads: Label(name: "outcome", values: [Self.accepted, "refused", Self.otherValue])
        case .epochs: Label(name: "reason", values: ["head", "cursor", "restore", "command"])
        case .commitToSocket, .pushAnswer, .batchSeconds, .batchTransactions, .lanes, .laneDepth, .laneTransactions,
            .unservedAge, .tailAge, .workspaces, .socketsMax, .slowConsumers, .calls, .connectionsRefused,
            .forwardingUnread, .securityLinesLeftOut, .logLinesDropped, .catchups, .catchupRows, .comparisons,
            .divergence, .stuck,
            .diskFree,
            .keySetAge, .certificateEnd,
            .backupAge, .residentMemory, .started:
            nil
        }
    }

    /// The state of a connection.
    package enum SocketState: String, CaseIterable, Sendable {
        /// All connections, including calls over HTTP and probes.
        case open
        /// Open connections that are not authenticated.
        case unauthenticated
        /// Sockets that have authenticated.
        case synced
    }

    /// Reads that wait for their turn.
    package enum StoreRead: String, CaseIterable, Sendable {
        /// The read with which a connection starts.
        case start
        /// Catch-up windows, pages, history and pulls.
        case page
    }

    /// The state of a connection of a pool, or a caller that waits for one.
    package enum PoolState: String, CaseIterable, Sendable {
        case idle, leased, waiting
    }

    /// The outcome of a transaction that took effect; other outcomes are a rejection's code.
    package static let accepted = "accepted"
    private static let outcomes = [
        accepted, "invalid", "forbidden", "not_found", "gone", "id_conflict", "conflict", "too_large",
        "unknown_collection", "unknown_op", "quota", "revoked", "rule", "internal_rejected", otherValue,
    ]

    /// Codes of `err` on a socket and of calls over HTTP.
    private static let refusalCodes = [
        "gap", "rate_limited", "overloaded", "unavailable", "draining", "forbidden", "too_large", "invalid",
        "not_found", "unauthenticated", "client_unknown", "client_forked", "client_taken", "stale_conn",
        "workspace_erased", "app_too_old", "quota", "account_disabled", "login_taken", "misdirected", otherValue,
    ]

    private static let closeCodes = [
        "1000", "1001", "1002", "1003", "1007", "1008", "1009", "4400", "4401", "4403", "4408", "4409", "4410", "4411",
        "4426", "4427", "4429", "4503", otherValue,
    ]

    private static let tokenReasons = [
        "too_long", "malformed", "unsupported_header", "unknown_issuer", "algorithm_not_allowed", "unknown_key",
        "bad_signature", "bad_times", "not_yet_valid", "token_expired", "lifetime_too_long", "wrong_audience",
        "required_claim", "no_user", "no_workspace", "keys_unavailable", "revoked", "admin", otherValue,
    ]

    private static let signInReasons = [
        "unknown", "password", "disabled", "token", "ended", "idle", "revoked", "stolen", "closed", "rate", "busy",
        otherValue,
    ]

    private static let openingFaults = ["plain_text", "handshake", "proxy_header", otherValue]

    private static let faults = [
        "store_full", "store_read_only", "store_broken", "store_unreachable", "store_outdated", otherValue,
    ]
}
