/// Bounds and periods of one server process.
package struct NodeLimits: Hashable, Sendable {
    /// Handshakes that read from the store at once; more wait in order.
    package var loadsMax = 8
    /// Catch-up windows, pages and pulls that read at once; more wait in order.
    package var readsMax = 8
    /// Pulls that wait for a change; one more is answered at once.
    package var longPollsMax = 5_000
    /// Encoded bytes of batches that one event loop has not taken over yet; beyond this its clients catch up from the
    /// store.
    package var inboxBytesMax = 64 * 1_048_576
    /// Batches of other nodes in one read.
    package var tailBatchesMax = 256
    /// The interval of looks for other nodes' commits without a hint.
    package var pollEvery: Duration = .seconds(1)
    /// The interval of looks for a schema that another node has put in force.
    package var schemaEvery: Duration = .milliseconds(500)
    /// Milliseconds after which the count of records for a proposed schema stops.
    package var schemaCountMax: Int64 = 10_000
    /// A node whose last look at other nodes' commits is older than this is not ready.
    package var tailAgeMax: Duration = .seconds(10)
    /// The interval at which this node renews its interest in its workspaces; well under the store's `followLifetime`.
    package var renewEvery: Duration = .seconds(20)
    /// Periods of `renewEvery` without a connection after which a workspace is no longer followed.
    package var restAfter = 30
    /// The evidence that a commit is safe from a database that goes back.
    package var durable = DurableRule.age(.seconds(86_400))
    /// The interval at which open connections are notified how far that is.
    package var durableEvery: Duration = .seconds(300)
    /// The same interval if standbys are the evidence, which are asked each time.
    package var standbysEvery: Duration = .seconds(5)
    /// The interval at which an event loop checks the deadlines of its connections.
    package var tickEvery: Duration = .seconds(1)
    /// The longest that the readiness probe waits for the store.
    package var probeMax: Duration = .seconds(2)
    /// Milliseconds for which one answer of the store is valid for all probes.
    package var probeLifetime: Int64 = 500
    /// Lookups a second of one user's clients, not seen before, in pushes over HTTP; each lookup of the owner costs a
    /// read.
    package var clientLookupsPerSecond = 20
    /// The same after a pause.
    package var clientLookupsBurst = 200
    /// Clients that one user may register, or remove, at once after a pause.
    package var registrationsBurst = 100
    /// Registrations and removals a second that one user may sustain.
    package var registrationsPerSecond = 1
    /// The time since a client was last seen after which it may make room for another. Well above `sightingEvery`, so
    /// that a client that is connected to any node stays.
    package var clientUnusedMin: Duration = .seconds(3_600)
    /// The shortest interval at which a client's presence is recorded.
    package var sightingEvery: Duration = .seconds(900)
    /// Clients whose presence is recorded in one step.
    package var sightingsAtOnce = 500
    /// The limits on when old data is forgotten, and how fast.
    package var compaction = CompactionLimits()
    /// The time that other servers have to answer questions about devices, while an operator waits.
    package var answerMax: Duration = .seconds(2)
    /// The time that a call with an invalid operator token waits for its refusal.
    package var adminRefusalPause: Duration = .seconds(1)
    /// Bounds on the calls for blobs.
    package var blobs = BlobLimits()

    package init() {}
}
