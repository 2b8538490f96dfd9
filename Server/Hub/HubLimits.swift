/// Bounds of one hub.
package struct HubLimits: Hashable, Sendable {
    /// The maximum number of bytes in the recent batches of all workspaces; the event loops of a process share these
    /// bytes.
    package var ringBytesMax = 64 * 1_048_576
    /// The milliseconds of the server's time that a batch is kept.
    package var ringAgeMax: Int64 = 600_000

    /// The maximum number of scopes whose presence one connection may watch.
    package var presenceScopesMax = 64
    /// The maximum number of users in one answer.
    package var presenceUsersMax = 200
    /// The maximum number of a hub's connections in a scope; beyond it, the hub reports no presence there.
    package var presenceSessionsMax = 1_000
    /// The maximum number of pairs of user and scope whose time of leaving is remembered, for each workspace and hub.
    package var departuresMax = 100_000
    /// The milliseconds for which a user remains online after their last connection ended.
    package var presenceGrace: Int64 = 5_000
    /// The milliseconds between two questions to the other hubs.
    package var presenceAskEvery: Int64 = 15_000
    /// The milliseconds after which a question, or a report, expires.
    package var presenceAskedFor: Int64 = 40_000

    package init() {}
}
