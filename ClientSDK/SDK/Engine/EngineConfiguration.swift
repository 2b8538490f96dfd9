import TidemarkModel

/// The inputs of an engine: the address to connect to, and everything that is not deterministic.
struct EngineConfiguration: Sendable {
    var url: String
    var transport: any Transport
    /// Returns a bearer token; called before each connection and before the last token expires.
    var token: @Sendable () async throws -> String
    var timing = EngineTiming()
    /// Returns milliseconds since 1970, for times that are shown or stored.
    var now: @Sendable () -> Milliseconds
    /// The clock that measures the machine's deadlines, and sleeps until they are due.
    var clock: any Clock<Duration> = ContinuousClock()
    /// True when the engine's own executor may block for the database.
    var isDatabaseInline = false
    /// Returns a client id that was never used.
    var newClient: @Sendable () -> ClientID
    /// The name and version of the app, for the server's log and the history of values.
    var app: String?
    /// Records what the engine does; `nil` to record nothing.
    var recorder: FlightRecorder?
    /// The seed of the jitter between attempts.
    var seed: UInt64
    /// Called with each report; must not block.
    var report: @Sendable (EngineReport) -> Void = { _ in }

    /// Reports a decision made while something was applied.
    func note(_ event: SyncLogEvent) { report(.noted(event)) }
}
