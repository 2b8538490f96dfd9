package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// Names one connection of this process.
package typealias SessionID = UInt64

/// What a session wants done. The executor does it and reports back by an event; the machine never waits.
package enum SessionEffect: Sendable {
    case send(SessionID, Frame)
    case close(SessionID, CloseCode, String)
    /// Report by `writabilityChanged` once what was sent is flushed and the socket has room.
    case awaitRoom(SessionID)
    /// Find out whose the token is; report by `verified`.
    case verify(SessionID, String)
    /// Read head, grants and client; report by `loaded`.
    case load(SessionID, LoadRequest)
    /// Read a stretch of the order; report by `windowRead`.
    case readWindow(SessionID, WindowRequest)
    /// Read a page; report by `pageRead`.
    case readPage(SessionID, WorkspaceID, PageRequest)
    /// Read the pages that a comparison asks for, one after the other; answers `compared`. Indirect, so that the others stay small.
    indirect case readComparison(SessionID, WorkspaceID, Comparison)
    /// Read from the conflict ledger; report by `historyRead`.
    case readHistory(SessionID, WorkspaceID, HistoryRequest)
    /// Give to the sequencer; report by `settled`.
    case submit(SessionID, WorkspaceID, Submission)
    /// Tell whoever runs the server that the client's copy was otherwise than it should be.
    case noteDivergence(SessionID, records: Int64)
    /// Tell whoever runs the server that the client could not take in what it was sent, on so many connections in a row.
    case noteStuck(SessionID, connections: Int64)
    /// Tell the other machines of this process and the other nodes, each by `heard`; may be lost.
    case tell(WorkspaceID, NodeMessage)
}

/// What a connection needs to start, or to start over after it fell behind.
package struct LoadRequest: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var user: UserID
    package var client: ClientID
    /// The client says that its id is new: register it.
    package var registers: Bool
    /// Where it stands, as this server or another one has said under its seal: look up the batch there, to prove that what
    /// the client has is of this history, or that the database went back.
    package var place: Head?
    /// Past cursors as the client says them: to be looked up where the present one lies in what the database lost.
    package var ends: [String] = []
    /// Outcomes that the client says it was told.
    package var ackedThrough: Int64 = 0

    /// The number to look up.
    package var lineage: SequenceNumber? { place?.seq }

    /// The search for the place where the client goes on; `nil` where there is nothing to look for: its cursor is of this
    /// history, or not under the seal, or older than what deletions are remembered, or no past ones came.
    package func search(in snapshot: SessionSnapshot, _ context: SessionContext) -> EndSearch? {
        guard let place, !ends.isEmpty, snapshot.hasLost(place) else { return nil }
        let places = ends.prefix(Hello.endsMax).compactMap { context.place(of: $0, in: workspace) }
        return EndSearch(among: places, head: snapshot.head, horizon: snapshot.horizon)
    }
}

/// A stretch of catch-up.
package struct WindowRequest: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var scopes: [ScopeID]
    package var after: SequenceNumber
    package var span: Int64
}
