/// The instruments with which a server counts, each made once. Any thread; counting costs an atomic addition or two.
package struct ServerMetrics: Sendable {
    package let commitToSocket: Durations
    package let pushAnswer: Durations
    package let batchSeconds: Durations
    package let batchTransactions: Sizes
    package let transactions: CounterFamily
    package let refusals: CounterFamily
    package let closes: CounterFamily
    package let tokensRefused: CounterFamily
    package let signInsRefused: CounterFamily
    package let connectionsRefused: Tally
    package let openingsFailed: CounterFamily
    package let forwardingUnread: Tally
    package let securityLinesLeftOut: Tally
    package let catchups: Tally
    package let catchupRows: Tally
    package let comparisons: Tally
    package let divergence: Tally
    package let stuck: Tally
    package let certificateReads: CounterFamily
    private let waits: [Metric.StoreRead: Durations]
    private let uses: [Metric.StoreRead: Durations]

    package init(_ registry: MetricRegistry) {
        func durations(_ metric: Metric) -> [Metric.StoreRead: Durations] {
            var durations: [Metric.StoreRead: Durations] = [:]
            for read in Metric.StoreRead.allCases { durations[read] = Durations(metric, read.rawValue, registry) }
            return durations
        }
        commitToSocket = Durations(.commitToSocket, nil, registry)
        pushAnswer = Durations(.pushAnswer, nil, registry)
        batchSeconds = Durations(.batchSeconds, nil, registry)
        batchTransactions = Sizes(.batchTransactions, registry)
        transactions = CounterFamily(.transactions, registry)
        refusals = CounterFamily(.refusals, registry)
        closes = CounterFamily(.closes, registry)
        tokensRefused = CounterFamily(.tokensRefused, registry)
        signInsRefused = CounterFamily(.signInsRefused, registry)
        connectionsRefused = Tally(.connectionsRefused, nil, registry)
        openingsFailed = CounterFamily(.openingsFailed, registry)
        forwardingUnread = Tally(.forwardingUnread, nil, registry)
        securityLinesLeftOut = Tally(.securityLinesLeftOut, nil, registry)
        catchups = Tally(.catchups, nil, registry)
        catchupRows = Tally(.catchupRows, nil, registry)
        comparisons = Tally(.comparisons, nil, registry)
        divergence = Tally(.divergence, nil, registry)
        stuck = Tally(.stuck, nil, registry)
        certificateReads = CounterFamily(.certificateReads, registry)
        waits = durations(.storeWait)
        uses = durations(.storeUse)
    }

    /// Records the wait and the duration of a read.
    package func noteRead(_ read: Metric.StoreRead, waited: Duration, took: Duration) {
        waits[read]?.record(waited)
        uses[read]?.record(took)
    }
}
