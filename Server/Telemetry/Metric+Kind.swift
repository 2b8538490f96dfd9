extension Metric {
    /// The metric's type, with the bounds of its buckets.
    package var kind: Kind {
        switch self {
        case .commitToSocket, .pushAnswer, .batchSeconds, .storeWait, .storeUse: .seconds(Self.durations)
        case .batchTransactions: .counts([1, 2, 5, 10, 20, 50, 100, 200, 500])
        case .transactions, .refusals, .closes, .tokensRefused, .signInsRefused, .connectionsRefused, .openingsFailed,
            .forwardingUnread,
            .securityLinesLeftOut, .logLinesDropped, .catchups, .catchupRows, .epochs, .comparisons, .divergence,
            .stuck,
            .certificateReads:
            .counter
        case .lanes, .laneDepth, .laneTransactions, .unservedAge, .tailAge, .workspaces, .sockets, .socketsMax,
            .slowConsumers, .calls, .storeFault, .poolWriters, .poolReaders, .diskFree, .keySetAge, .certificateEnd,
            .backupAge, .residentMemory, .started:
            .gauge
        }
    }

    /// Bounds from half a millisecond to half a minute, in nanoseconds.
    private static let durations: [Int64] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000,
    ]

    /// The metric's description in one sentence, for readers of the endpoint.
    package var help: String {
        switch self {
        case .commitToSocket: "Time from a batch's commit to the flush of its frames, for each batch and event loop."
        case .pushAnswer: "Time from a push to the answer for all of it."
        case .batchSeconds: "Time that the store took for a batch."
        case .batchTransactions: "Transactions in a batch."
        case .transactions: "Transactions that were settled, by outcome."
        case .lanes: "Workspaces with a queue of writes."
        case .laneDepth: "Transactions in the longest queue."
        case .laneTransactions: "Transactions in all queues."
        case .unservedAge: "Age of the oldest commit that this node may not have delivered to its event loops."
        case .tailAge: "Time since the last successful look for other nodes' commits; 0 without other nodes."
        case .workspaces: "Workspaces that this node follows."
        case .sockets: "Connections, by state."
        case .socketsMax: "Connections that the server accepts at most."
        case .slowConsumers: "Sockets that accept no more bytes at present."
        case .calls: "Calls over HTTP in progress."
        case .refusals: "Requests that were refused, by code."
        case .closes: "Connections that the server closed, by code."
        case .tokensRefused: "Tokens that were not accepted, by reason."
        case .signInsRefused: "Calls of accounts that were refused, by reason."
        case .connectionsRefused: "Connections that were refused because there were too many."
        case .openingsFailed: "Connections that ended before their first HTTP request, by reason."
        case .forwardingUnread: "Requests of trusted proxies without a readable address of the client."
        case .securityLinesLeftOut: "Lines of the security log that were counted and not written."
        case .logLinesDropped: "Lines of the log that were dropped because they could not be written."
        case .storeWait: "Time that a read waited for its turn."
        case .storeUse: "Time that a read took."
        case .storeFault: "1 while the store accepts no commits for this reason."
        case .poolWriters: "Connections to PostgreSQL that write, by state."
        case .poolReaders: "Connections to PostgreSQL that read, by state."
        case .catchups: "Catch-up windows that were read for clients that were behind."
        case .catchupRows: "Records in those windows."
        case .epochs: "Times that the database had gone back, by the way in which that was found."
        case .comparisons: "Answers to devices that compared their copies."
        case .divergence:
            "Connections whose device reported a copy that differs from the server's records; must stay 0."
        case .stuck: "Connections whose device reported that it cannot apply what it is sent; must stay 0."
        case .diskFree: "Free space on the file system of the SQLite file."
        case .keySetAge: "Age of the oldest keys of an issuer with a URL; infinite while some were never fetched."
        case .certificateEnd: "Time at which the certificate in use expires, in seconds since 1970."
        case .certificateReads: "Reads of changed certificate files, by outcome."
        case .backupAge: "Age of the newest verified backup; infinite while there is none."
        case .residentMemory: "Memory of the process."
        case .started: "Start time of the process, in seconds since 1970."
        }
    }
}
