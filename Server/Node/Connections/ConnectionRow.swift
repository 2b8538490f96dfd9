package import TidemarkHub
package import TidemarkModel

/// One connection as an operator sees it.
package struct ConnectionRow: Hashable, Sendable {
    package var id: SessionID
    /// Who it is; `nil` until its token was accepted.
    package var workspace: WorkspaceID?
    package var user: UserID?
    package var client: ClientID?
    /// Name and version of the app, as it says itself.
    package var app: String?
    /// The other end, behind a trusted proxy its client.
    package var address: String?
    /// When it began.
    package var since: Milliseconds
    /// When its last message came.
    package var heard: Milliseconds
    /// Bytes of frames that were handed to the socket.
    package var bytes: Int64 = 0
    /// Bytes of frames that the client has not acknowledged.
    package var pending: Int64 = 0
    /// Every change up to here was sent, or is of no concern to it.
    package var position: SequenceNumber = 0
    /// Changes of the workspace after that.
    package var lag: Int64 = 0
    /// The socket does not take what it is sent.
    package var isSlow = false
    /// Connections in a row on which the client could not take in what it was sent, as it said when this one began.
    package var stuck: Int64?
    /// Records that the client says to have had otherwise, on this connection.
    package var diverged: Int64?

    package init(id: SessionID, since: Milliseconds, heard: Milliseconds) {
        self.id = id
        self.since = since
        self.heard = heard
    }
}

/// A connection that is over.
package struct ClosedConnection: Hashable, Sendable {
    /// As it was at its end.
    package var row: ConnectionRow
    package var closed: Milliseconds
    /// The close code, of whoever closed; `nil` where the connection was lost without one.
    package var code: UInt16?
    /// In our words where we closed.
    package var reason: String
    /// The other end closed, or went.
    package var isByPeer: Bool
    /// Counts those of this process.
    package var number: Int64 = 0
}
