package import TidemarkModel
package import TidemarkWire

/// What an engine is given: where to connect, and everything that is not deterministic.
package struct EngineConfiguration: Sendable {
    package var url: String
    package var transport: any Transport
    /// Gives a bearer token; asked before each connection and before the last one ends.
    package var token: @Sendable () async throws -> String
    package var timing = EngineTiming()
    /// Milliseconds since 1970, for what is shown or stored.
    package var now: @Sendable () -> Milliseconds
    /// Measures the machine's deadlines, and sleeps until they come.
    package var clock: any Clock<Duration> = ContinuousClock()
    /// True when the engine's own executor may block for the database.
    package var isDatabaseInline = false
    /// A client id that was never used.
    package var newClient: @Sendable () -> ClientID
    /// Name and version of the app, for the server's log and the history of values.
    package var app: String?
    /// Records what the engine does; `nil` for nothing.
    package var recorder: FlightRecorder?
    /// Seed of the jitter between attempts.
    package var seed: UInt64
    /// False for an engine that waits for `want(true)`.
    package var startsConnected = true
    /// Told with each connection what the server takes.
    package var welcomed: @Sendable (WireLimits) -> Void = { _ in }
    /// Told with each connection how many scopes of the user do not fit on it.
    package var leftOut: @Sendable (Int) -> Void = { _ in }
    /// Told of the end of rounds: the number of the last one that is over.
    package var roundEnded: @Sendable (Int64) -> Void = { _ in }
    /// Told of a record, by its collection's own name, when all that the server knows of its history is here.
    package var historyEnded: @Sendable (RecordKey) -> Void = { _ in }
    /// The same of rounds of one collection.
    package var collectionRoundEnded: @Sendable (String, Int64) -> Void = { _, _ in }
    /// Told with each write of the engine whether the disk has room.
    package var diskFull: @Sendable (Bool) -> Void = { _ in }
    /// Told when the server wants nothing pushed for a while, and when that is over.
    package var pushPaused: @Sendable (PushPause?) -> Void = { _ in }
    /// The scopes whose presence the app watches; read again after `SyncEngine.watchChanged()`.
    package var watched: @Sendable () -> Set<ScopeID> = { [] }
    /// Told what others say; never blocks.
    package var heard: @Sendable (Ephemeral) -> Void = { _ in }
    /// Told of what is decided while changes are applied, after the commit.
    package var note: @Sendable (SyncLogEvent) -> Void = { _ in }
    /// Told how many bytes a message had that was sent, and each that came.
    package var carried: @Sendable (_ sent: Int, _ received: Int) -> Void = { _, _ in }
    /// Told how many records were taken in, after the commit.
    package var received: @Sendable (Int) -> Void = { _ in }
    /// Told of every change of phase.
    package var report: @Sendable (SyncPhase) -> Void
    /// Told the server time whenever the copy is consistent.
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
