package import TidemarkModel
package import TidemarkWire

/// The inputs of an engine: the address to connect to, and everything that is not deterministic.
package struct EngineConfiguration: Sendable {
    package var url: String
    package var transport: any Transport
    /// Returns a bearer token; called before each connection and before the last token expires.
    package var token: @Sendable () async throws -> String
    package var timing = EngineTiming()
    /// Returns milliseconds since 1970, for times that are shown or stored.
    package var now: @Sendable () -> Milliseconds
    /// The clock that measures the machine's deadlines, and sleeps until they are due.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// True when the engine's own executor may block for the database.
    package var isDatabaseInline = false
    /// Returns a client id that was never used.
    package var newClient: @Sendable () -> ClientID
    /// The name and version of the app, for the server's log and the history of values.
    package var app: String?
    /// Records what the engine does; `nil` to record nothing.
    package var recorder: FlightRecorder?
    /// The seed of the jitter between attempts.
    package var seed: UInt64
    /// False for an engine that waits for `want(true)`.
    package var startsConnected = true
    /// Called on each connection with the server's limits.
    package var welcomed: @Sendable (WireLimits) -> Void = { _ in }
    /// Called on each connection with the number of the user's scopes that do not fit on it.
    package var leftOut: @Sendable (Int) -> Void = { _ in }
    /// Called at the end of rounds with the number of the last one that has ended.
    package var roundEnded: @Sendable (Int64) -> Void = { _ in }
    /// Called for a record, by its collection's own name, when its whole history known to the server is on the device.
    package var historyEnded: @Sendable (RecordKey) -> Void = { _ in }
    /// Called at the end of rounds of one collection.
    package var collectionRoundEnded: @Sendable (String, Int64) -> Void = { _, _ in }
    /// Called after each write of the engine; true when the disk is full.
    package var diskFull: @Sendable (Bool) -> Void = { _ in }
    /// Called when the server wants nothing pushed for a while, and with `nil` when the pause ends.
    package var pushPaused: @Sendable (PushPause?) -> Void = { _ in }
    /// Returns the scopes whose presence the app watches; called again after `SyncEngine.watchChanged()`.
    package var watched: @Sendable () -> Set<ScopeID> = { [] }
    /// Called with each ephemeral message of others; must not block.
    package var heard: @Sendable (Ephemeral) -> Void = { _ in }
    /// Called after the commit with each decision made while changes were applied.
    package var note: @Sendable (SyncLogEvent) -> Void = { _ in }
    /// Called with the size in bytes of each message sent and of each message received.
    package var carried: @Sendable (_ sent: Int, _ received: Int) -> Void = { _, _ in }
    /// Called after the commit with the number of records that were taken in.
    package var received: @Sendable (Int) -> Void = { _ in }
    /// Called on every change of phase.
    package var report: @Sendable (SyncPhase) -> Void
    /// Called with the server time whenever the copy is consistent.
    package var synced: @Sendable (Milliseconds) -> Void

    package init(
        url: String, transport: any Transport, token: @escaping @Sendable () async throws -> String,
        now: @escaping @Sendable () -> Milliseconds, newClient: @escaping @Sendable () -> ClientID, seed: UInt64,
        report: @escaping @Sendable (SyncPhase) -> Void = { _ in },
        synced: @escaping @Sendable (Milliseconds) -> Void = { _ in }
    ) {
        self.url = url
        self.transport = transport
        self.token = token
        self.now = now
        self.newClient = newClient
        self.seed = seed
        self.report = report
        self.synced = synced
    }
}
