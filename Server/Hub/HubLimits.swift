/// Bounds of one hub.
package struct HubLimits: Hashable, Sendable {
    /// Bytes of recent batches kept over all workspaces; the bytes are shared by all event loops of a process.
    package var ringBytesMax = 64 * 1_048_576
    /// How long a batch is kept, in milliseconds of the server's time.
    package var ringAgeMax: Int64 = 600_000

    /// Scopes whose presence one connection may watch.
    package var presenceScopesMax = 64
    /// Users of whom one answer tells.
    package var presenceUsersMax = 200
    /// Connections of one hub in a scope, beyond which it tells of none there.
    package var presenceSessionsMax = 1_000
    /// Pairs of user and scope for which the time of leaving is remembered, a workspace and hub.
    package var departuresMax = 100_000
    /// Milliseconds for which a user whose last connection ended counts as there.
    package var presenceGrace: Int64 = 5_000
    /// Milliseconds between two questions to the other hubs.
    package var presenceAskEvery: Int64 = 15_000
    /// Milliseconds after which a question, or a report, counts no more.
    package var presenceAskedFor: Int64 = 40_000

    package init() {}
}
