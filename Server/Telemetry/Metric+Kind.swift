extension Metric {
    /// What kind of figure it is, with the bounds of its buckets.
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

    /// From half a millisecond to half a minute, in nanoseconds.
    private static let durations: [Int64] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000, 30_000_000_000,
    ]

    /// One sentence for whoever reads the endpoint.
    package var help: String {
        switch self {
        case .commitToSocket: "From the time of a batch to the flush of its frames, once a batch and event loop."
        case .pushAnswer: "From a push to the word on all of it."
        case .batchSeconds: "How long the store took for a batch."
        case .batchTransactions: "Transactions of a batch."
        case .transactions: "Transactions that were settled, by what became of them."
        case .lanes: "Workspaces with a queue of writes."
        case .laneDepth: "Transactions in the longest queue."
        case .laneTransactions: "Transactions in all queues."
        case .unservedAge: "Age of the oldest commit that this node may not have handed to its event loops."
        case .tailAge: "Since when nobody looked for commits of other nodes; 0 where there are none."
        case .workspaces: "Workspaces that this node follows."
        case .sockets: "Connections, by what is known of them."
        case .socketsMax: "Connections that the server takes."
        case .slowConsumers: "Sockets that do not take what they are sent."
        case .calls: "Calls over HTTP in progress."
        case .refusals: "Requests that were refused, by code."
        case .closes: "Connections that the server closed, by code."
        case .tokensRefused: "Tokens that were not accepted, by why."
        case .signInsRefused: "Calls of accounts that signed nobody in, by why."
        case .connectionsRefused: "Connections that found no room."
        case .openingsFailed: "Connections that ended before a word of HTTP, by why."
        case .forwardingUnread: "Requests of trusted proxies that did not say readably whom they are for."
        case .securityLinesLeftOut: "Lines of the security log that were counted and not written."
        case .logLinesDropped: "Lines of the log that were dropped, since nobody took them."
        case .storeWait: "How long a read waited for its turn."
        case .storeUse: "How long a read took."
        case .storeFault: "1 while the store does not take commits for this reason."
        case .poolWriters: "Connections to PostgreSQL that write, by state."
        case .poolReaders: "Connections to PostgreSQL that read, by state."
        case .catchups: "Windows that were read for clients that were behind."
        case .catchupRows: "Records of those windows."
        case .epochs: "Times that the database was found to have gone back, by how."
        case .comparisons: "Answers to devices that compare their copies."
        case .divergence:
            "Connections whose device said that its copy was otherwise than the server's: a device's word; must stay 0."
        case .stuck: "Connections of devices that said they take in nothing more of what they are sent; must stay 0."
        case .diskFree: "Room on the file system of the SQLite file."
        case .keySetAge: "Age of the oldest keys of an issuer with a URL; infinite while some were never fetched."
        case .certificateEnd: "When the certificate in use ends, in seconds since 1970."
        case .certificateReads: "Files of the certificate that were read again, by what became of them."
        case .backupAge: "Age of the newest verified backup; infinite while there is none."
        case .residentMemory: "Memory of the process."
        case .started: "When the process began, in seconds since 1970."
        }
    }
}
