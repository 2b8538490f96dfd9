package import TidemarkModel
package import TidemarkWire

/// The counts of ephemeral messages on one hub, since its start.
package struct EphemeralCounts: Hashable, Sendable {
    /// Accepted from a client, and passed on.
    package var accepted: Int64 = 0
    /// Refused: over a bound, or for a scope that the sender does not hold.
    package var refused: Int64 = 0
    /// Sent to a client.
    package var delivered: Int64 = 0
    /// Not sent to a client that holds the scope: the client is behind, or its socket is full.
    package var undelivered: Int64 = 0
}

extension Hub {
    /// Passes a client's messages on: to the sessions here, and to the other hubs.
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

    /// Handles a message of another hub; ignored if the workspace is not followed.
    mutating func heard(_ message: NodeMessage, in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        switch message {
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

extension Session {
    /// A client's messages since the last call.
    package struct OutgoingEphemerals: Hashable, Sendable {
        /// The messages, with the sender's name.
        package var messages: [Ephemeral] = []
        /// The number of messages over a bound, or for a scope that the user does not hold.
        package var dropped = 0

        /// True when the client neither sent nor lost anything.
        package var isEmpty: Bool { messages.isEmpty && dropped == 0 }
    }

    /// Handles `eph` by bounds and access; a message that fails them is dropped without an answer.
    ///
    /// Only a live session knows its grants as of the process's tail: a session that catches up may hold a grant that
    /// has ended.
    mutating func say(_ message: Ephemeral, now: Milliseconds) {
        guard let user = identity?.principal.user, ephemeralBucket.take(1, now: now) == nil, isLive, !isDraining,
            grants[message.scope] != nil, context.limits.ephemeral.allow(message)
        else { return outgoing.dropped += 1 }
        var message = message
        message.user = user
        outgoing.messages.append(message)
    }

    /// Returns the client's messages and forgets them.
    package mutating func takeOutgoing() -> OutgoingEphemerals {
        guard !outgoing.isEmpty else { return outgoing }
        defer { outgoing = OutgoingEphemerals() }
        return outgoing
    }

    /// Delivers a message of a scope. Returns false when the client does not get it: it does not hold the scope,
    /// or is behind. These messages are never queued, and the window does not count them.
    package mutating func hear(_ frame: Frame, in scope: ScopeID, into effects: inout [SessionEffect]) -> Bool {
        guard isLive, !outbound.isFull(context.limits), grants[scope] != nil,
            window.hasRoom(for: frame.bytes.count, limits: context.limits)
        else { return false }
        give(frame, into: &effects)
        return true
    }
}
