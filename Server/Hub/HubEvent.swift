package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// An event of a hub. Large and rare ones are indirect: events are copied, and the frequent ones stay small.
package enum HubEvent: Sendable {
    // Sockets.

    /// A connection was accepted; `headerToken` is its bearer header, if it had one.
    case opened(SessionID, headerToken: String?)
    /// One message arrived.
    case received(SessionID, [UInt8])
    /// The socket's buffer filled or drained.
    case writabilityChanged(SessionID, isWritable: Bool)
    /// The connection was lost.
    case lost(SessionID)

    // MARK: Answers to the hub's effects

    /// The answer to `verify`.
    case verified(SessionID, TokenVerdict)
    /// The answer to `load`. The workspace must be followed by now.
    indirect case loaded(SessionID, LoadAnswer)
    case loadFailed(SessionID)
    /// The workspace of a connection is erased.
    case erased(SessionID)
    /// The answer to `readWindow`.
    indirect case windowRead(SessionID, Window)
    /// The answer to `readPage`; `nil` when the store failed.
    indirect case pageRead(SessionID, PageRequest, Page?)
    /// The answer to `readHistory`; `nil` when the store failed.
    indirect case historyRead(SessionID, HistoryRequest, LedgerPage?)
    /// The answer to `readComparison`; `isRead` is false when the store failed.
    indirect case compared(SessionID, Comparison, isRead: Bool)
    /// The sequencer's outcome of one submission.
    case settled(SessionID, PushOutcome, pushEnd: Int64?)

    // The order of a workspace.

    /// The process begins to follow the workspace.
    case follow(WorkspaceID, Head)
    /// The process stops following the workspace, which had no connection for long.
    case unfollow(WorkspaceID)
    /// The next batch of the order.
    case committed(WorkspaceID, DeliveryBatch)
    /// The order is called safe up to this number.
    case durable(WorkspaceID, Epoch, SequenceNumber)
    /// Batches up to this head were missed, because their bodies were not kept: all sessions catch up from the store.
    case missed(WorkspaceID, Head)
    /// The stored order is not the one that was delivered.
    case rewound(WorkspaceID, Head)

    // Other hubs.

    /// A message of another hub, in this process or on another node.
    case heard(WorkspaceID, NodeMessage)
    /// Another connection of the same client was accepted by another hub of this process.
    case superseded(SessionID)
    /// The client of a connection is no longer registered.
    case removed(SessionID)

    // Tokens.

    /// Tokens were revoked.
    case revoked(Revocation)
    /// The token of one connection turned out to be revoked.
    case tokenRevoked(SessionID, RevokedToken)

    // Schema, time and end.

    /// Another schema is in force.
    case adopted(SessionContext)
    /// Time passed: deadlines, expiries, progress. Sent about once a second.
    case tick
    /// The process is about to stop: the hub notifies every client, and closes each connection once its pushes are
    /// settled.
    case drain
}
