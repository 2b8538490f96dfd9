/// Bounds and periods of one server process.
package struct NodeLimits: Hashable, Sendable {
    /// Handshakes that read from the store at once; more wait in order.
    package var loadsMax = 8
    /// Catch-up windows, pages and pulls that read at once; more wait in order.
    package var readsMax = 8
    /// Pulls that wait for something to happen; one more is answered at once.
    package var longPollsMax = 5_000
    /// Encoded bytes of batches that one event loop has not taken over yet; beyond it its clients catch up from the store.
    package var inboxBytesMax = 64 * 1_048_576
    /// Batches of other nodes in one read.
    package var tailBatchesMax = 256
    /// How often other nodes' commits are looked for without a hint.
    package var pollEvery: Duration = .seconds(1)
    /// How often it is looked for a schema that another node has put in force.
    package var schemaEvery: Duration = .milliseconds(500)
    /// Milliseconds after which records are counted no further for a schema that may come.
    package var schemaCountMax: Int64 = 10_000
    /// A node whose last look at other nodes' commits is older than this is not ready.
    package var tailAgeMax: Duration = .seconds(10)
    /// How often this node's interest in its workspaces is renewed; well under the store's `followLifetime`.
    package var renewEvery: Duration = .seconds(20)
    /// A workspace that nobody is connected to is let go after so many periods of `renewEvery`.
    package var restAfter = 30
    /// By what a commit counts as safe from a database that goes back.
    package var durable = DurableRule.age(.seconds(86_400))
    /// How often open connections are told how far that is.
    package var durableEvery: Duration = .seconds(300)
    /// The same where it goes by standbys, which are asked each time.
    package var standbysEvery: Duration = .seconds(5)
    /// How often an event loop looks at the deadlines of its connections.
    package var tickEvery: Duration = .seconds(1)
    /// The longest that the readiness probe waits for the store.
    package var probeMax: Duration = .seconds(2)
    /// Milliseconds for which one answer of the store is good for all who probe.
    package var probeLifetime: Int64 = 500
    /// Clients a second of one user, not seen before, that a push over HTTP may name; the look at whose they are costs a read.
    package var clientLookupsPerSecond = 20
    /// The same after a pause.
    package var clientLookupsBurst = 200
    /// Clients that one user may register, or remove, at once after a pause.
    package var registrationsBurst = 100
    /// The same a second, for long.
    package var registrationsPerSecond = 1
    /// How long nobody must have seen a client that makes room for another; well above `sightingEvery`, so that one that is
    /// connected to any node stays.
    package var clientUnusedMin: Duration = .seconds(3_600)
    /// How often at most it is written down that a client is here.
    package var sightingEvery: Duration = .seconds(900)
    /// Clients of which that is written in one step.
    package var sightingsAtOnce = 500
    /// When what is old is forgotten, and how fast.
    package var compaction = CompactionLimits()
    /// The time that the other servers have to say what they know of devices, while an operator waits.
    package var answerMax: Duration = .seconds(2)
    /// How long a call without a good token for operators waits for its refusal.
    package var adminRefusalPause: Duration = .seconds(1)
    /// Bounds on the calls for blobs.
    package var blobs = BlobLimits()

    package init() {}
}
