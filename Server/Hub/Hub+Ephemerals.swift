import TidemarkModel
import TidemarkWire

/// What became of ephemeral messages on one hub, since it began.
package struct EphemeralCounts: Hashable, Sendable {
    /// Taken from a client, and passed on.
    package var accepted: Int64 = 0
    /// Over a bound, or for a scope that its sender does not hold.
    package var refused: Int64 = 0
    /// Sent to a client.
    package var delivered: Int64 = 0
    /// Not sent to a client that holds the scope: it is behind, or its socket is full.
    package var undelivered: Int64 = 0
}

extension Hub {
    /// Passes on what a client said: to the sessions here, and to the other hubs.
    mutating func spread(from id: SessionID, into effects: inout [SessionEffect]) {
        guard let outgoing = withSession(id, { $0.takeOutgoing() }), !outgoing.isEmpty,
            let workspace = sessions[id]?.identity?.workspace
        else { return }
        counts.refused += Int64(outgoing.dropped)
        for message in outgoing.messages {
            guard message.kind != Ephemeral.presence else {
                watch(message, by: id, in: workspace, into: &effects)
                continue
            }
            counts.accepted += 1
            let frame = Frame(message.encode())
            give(frame, in: message.scope, of: workspace, except: id, into: &effects)
            effects.append(.tell(workspace, .ephemeral(message.scope, frame)))
        }
    }

    /// Another hub has something for the workspace; ignored where the workspace is not followed.
    mutating func heard(_ word: NodeMessage, in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        switch word {
        case .ephemeral(let scope, let frame): give(frame, in: scope, of: workspace, into: &effects)
        case .ask(let scope): asked(scope, in: workspace, into: &effects)
        case .present(let scope, let report): workspaces[workspace]?.attendance.heard(report, of: scope, now: clock)
        }
    }

    /// Sends a frame to the sessions that hold the scope.
    mutating func give(
        _ frame: Frame, in scope: ScopeID, of workspace: WorkspaceID, except sender: SessionID? = nil,
        into effects: inout [SessionEffect]
    ) {
        for id in workspaces[workspace]?.byScope[scope] ?? [] where id != sender {
            if withSession(id, { $0.hear(frame, in: scope, into: &effects) }) == true {
                counts.delivered += 1
            } else {
                counts.undelivered += 1
            }
        }
    }
}
