package import TidemarkModel

/// A message of one hub to those of the process's other event loops and of the other nodes, about one workspace. It may
/// be lost; nothing that must arrive is sent this way.
package enum NodeMessage: Sendable {
    /// An ephemeral message of a client in the scope.
    case ephemeral(ScopeID, Frame)

    /// Presence in the scope is watched: each machine answers by `present`, now and on changes for a while.
    case ask(ScopeID)
    /// The members of the scope that are online on one machine.
    case present(ScopeID, PresenceReport)
}
