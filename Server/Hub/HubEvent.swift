package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// Everything that can happen to a hub.
package enum HubEvent: Sendable {
    // Sockets.

    /// A connection was accepted; `headerToken` is its bearer header, if it had one.
    case opened(SessionID, headerToken: String?)
    /// One message arrived.
    case received(SessionID, [UInt8])
    /// The socket's buffer filled or drained.
    case writabilityChanged(SessionID, isWritable: Bool)
    /// The connection is gone.
    case lost(SessionID)

    // What the hub asked for, and what became of it.

    /// The answer to `verify`.
    case verified(SessionID, TokenVerdict)
    /// The answer to `load`. The workspace must be followed by now.
    case loaded(SessionID, LoadAnswer)
    case loadFailed(SessionID)
    /// The workspace of a connection is erased.
    case erased(SessionID)
    /// The answer to `readWindow`.
    case windowRead(SessionID, Window)
    /// The answer to `readPage`; `nil` when the store failed.
    case pageRead(SessionID, PageRequest, Page?)
    /// The answer to `readHistory`; `nil` when the store failed.
    case historyRead(SessionID, HistoryRequest, LedgerPage?)
    /// The answer to `readComparison`; `isRead` is false when the store failed.
    case compared(SessionID, Comparison, isRead: Bool)
    /// What the sequencer decided about one submission.
    case settled(SessionID, PushOutcome, pushEnd: Int64?)

    // The order of a workspace.

    /// The process follows the workspace from here on.
    case follow(WorkspaceID, Head)
    /// The process follows it no more, since nobody was connected for long.
    case unfollow(WorkspaceID)
    /// The next batch of the order.
    case committed(WorkspaceID, DeliveryBatch)
    /// The order is called safe up to this number.
    case durable(WorkspaceID, Epoch, SequenceNumber)
    /// Batches up to here were missed, because their bodies were not kept: everyone catches up from the store.
    case missed(WorkspaceID, Head)
    /// The stored order is not the one that was delivered.
    case rewound(WorkspaceID, Head)

    // Other hubs.

    /// A message of another hub, in this process or on another node.
    case heard(WorkspaceID, NodeMessage)
    /// Another connection of the same client was accepted by another hub of this process.
    case superseded(SessionID)
    /// The client of a connection is registered no more.
    case removed(SessionID)

    // Tokens.

    /// Tokens were revoked.
    case revoked(Revocation)
    /// The token of one connection turned out to be revoked.
    case tokenRevoked(SessionID, RevokedToken)

    // Schema, time and end.

    /// Another schema is in force.
    case adopted(SessionContext)
    /// Time passed: deadlines, expiries, progress. About once a second.
    case tick
    /// The process is about to stop: every client is told, and each is closed once its pushes are settled.
    case drain
}

extension Hub {
    /// Takes one event and decides what follows from it; nothing here waits.
    ///
    /// - Parameters:
    ///   - now: the time of the event.
    ///   - effects: what is to be done is added, in order.
    package mutating func apply(_ event: HubEvent, now: Milliseconds, into effects: inout [SessionEffect]) {
        switch event {
        case .opened(let id, let token): opened(id, headerToken: token, now: now, into: &effects)
        case .received(let id, let bytes): received(id, bytes, now: now, into: &effects)
        case .writabilityChanged(let id, let isWritable):
            writabilityChanged(id, isWritable: isWritable, now: now, into: &effects)
        case .lost(let id): lost(id)
        case .verified(let id, let verdict): verified(id, verdict, now: now, into: &effects)
        case .loaded(let id, let answer): loaded(id, answer, now: now, into: &effects)
        case .loadFailed(let id): loadFailed(id, now: now, into: &effects)
        case .erased(let id): erased(id, now: now, into: &effects)
        case .windowRead(let id, let window): windowRead(id, window, now: now, into: &effects)
        case .pageRead(let id, let request, let page): pageRead(id, request, page, now: now, into: &effects)
        case .historyRead(let id, let request, let page): historyRead(id, request, page, into: &effects)
        case .compared(let id, let comparison, let isRead): compared(id, comparison, isRead: isRead, into: &effects)
        case .settled(let id, let outcome, let pushEnd): settled(id, outcome, pushEnd: pushEnd, into: &effects)
        case .follow(let workspace, let head): follow(workspace, from: head)
        case .unfollow(let workspace): unfollow(workspace, into: &effects)
        case .committed(let workspace, let batch): committed(batch, in: workspace, now: now, into: &effects)
        case .durable(let workspace, let epoch, let through):
            workspaces[workspace]?.ring.call(durable: through, in: epoch)
        case .missed(let workspace, let head): missed(upTo: head, in: workspace, now: now, into: &effects)
        case .rewound(let workspace, let head): rewound(to: head, in: workspace, into: &effects)
        case .heard(let workspace, let message): heard(message, in: workspace, into: &effects)
        case .superseded(let id): superseded(id, into: &effects)
        case .removed(let id): removed(id, into: &effects)
        case .revoked(let revocation): revoked(revocation, into: &effects)
        case .tokenRevoked(let id, let revoked): self.revoked(id, revoked, into: &effects)
        case .adopted(let context): adopt(context)
        case .tick: tick(now: now, into: &effects)
        case .drain: drain(into: &effects)
        }
    }
}
