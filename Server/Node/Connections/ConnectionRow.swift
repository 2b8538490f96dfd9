package import TidemarkHub
package import TidemarkModel

/// One connection as an operator sees it.
package struct ConnectionRow: Hashable, Sendable {
    package var id: SessionID
    /// The workspace that it authenticated for; `nil` until its token was accepted.
    package var workspace: WorkspaceID?
    package var user: UserID?
    package var client: ClientID?
    /// Name and version of the app, as the app states them.
    package var app: String?
    /// The peer's address; behind a trusted proxy, that of the proxy's client.
    package var address: String?
    /// The time at which the connection began.
    package var since: Milliseconds
    /// The time of its last message.
    package var heard: Milliseconds
    /// Bytes of frames that were written to the socket.
    package var bytes: Int64 = 0
    /// Bytes of frames that the client has not acknowledged.
    package var pending: Int64 = 0
    /// The number up to which every change was sent, or does not concern this connection.
    package var position: SequenceNumber = 0
    /// Changes of the workspace after that.
    package var lag: Int64 = 0
    /// True when the socket accepts no more bytes at present.
    package var isSlow = false
    /// Connections in a row on which the client could not apply what it was sent, as the client stated at the
    /// beginning.
    package var stuck: Int64?
    /// Records that the client reported on this connection as different from the server's.
    package var diverged: Int64?

    package init(id: SessionID, since: Milliseconds, heard: Milliseconds) {
        self.id = id
        self.since = since
        self.heard = heard
    }
}

/// A connection that has ended.
package struct ClosedConnection: Hashable, Sendable {
    /// The connection at its end.
    package var row: ConnectionRow
    package var closed: Milliseconds
    /// The close code of whichever side closed; `nil` if the connection was lost without one.
    package var code: UInt16?
    /// The reason for the close: the server's own text if the server closed.
    package var reason: String
    /// True when the peer closed the connection or vanished.
    package var isByPeer: Bool
    /// The connection's number, counted by this process.
    package var number: Int64 = 0
}
