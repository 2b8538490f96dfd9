package import TidemarkModel
package import TidemarkWire

/// What one hub tells those of the process's other event loops and of the other nodes, about one workspace.
/// May be lost; nothing that must arrive goes this way.
package enum NodeMessage: Sendable {
    /// Somebody said this in the scope.
    case ephemeral(ScopeID, Frame)

    /// Somebody watches who is there: each machine answers by `present`, now and on changes for a while.
    case ask(ScopeID)
    /// Who of the scope is there on one machine.
    case present(ScopeID, PresenceReport)

    /// Somebody said this; `message` names who.
    package static func said(_ message: Ephemeral) -> NodeMessage { .ephemeral(message.scope, Frame(message.encode())) }
}
