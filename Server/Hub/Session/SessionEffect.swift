package import TidemarkModel
package import TidemarkSequencer
package import TidemarkStore
package import TidemarkWire

/// The id of one connection of this process.
package typealias SessionID = UInt64

/// An action that a session requests. The executor carries it out and reports back by an event; the machine never
/// waits.
package enum SessionEffect: Sendable {
    case send(SessionID, Frame)
    case close(SessionID, CloseCode, String)
    /// Report by `writabilityChanged` once what was sent is flushed and the socket has room.
    case awaitRoom(SessionID)
    /// Verify the token; report by `verified`.
    case verify(SessionID, String)
    /// Read head, grants and client; report by `loaded`.
    case load(SessionID, LoadRequest)
    /// Read a stretch of the order; report by `windowRead`.
    case readWindow(SessionID, WindowRequest)
    /// Read a page; report by `pageRead`.
    case readPage(SessionID, WorkspaceID, PageRequest)
    /// Read the pages of a comparison, one after the other; report by `compared`. Indirect, so that the others stay
    /// small.
    indirect case readComparison(SessionID, WorkspaceID, Comparison)
    /// Read from the conflict ledger; report by `historyRead`.
    case readHistory(SessionID, WorkspaceID, HistoryRequest)
    /// Give to the sequencer; report by `settled`.
    case submit(SessionID, WorkspaceID, Submission)
    /// Notify the operator that the client's copy differed from the server's records.
    case noteDivergence(SessionID, records: Int64)
    /// Notify the operator that the client could not apply what it was sent, on so many connections in a row.
    case noteStuck(SessionID, connections: Int64)
    /// Send to the other hubs of this process and the other nodes, each gets it by `heard`; may be lost.
    case tell(WorkspaceID, NodeMessage)
}

/// A request for the state from which a connection starts, or starts over after it fell behind.
package struct LoadRequest: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var user: UserID
    package var client: ClientID
    /// True when the client reports its id as new: register it.
    package var registers: Bool
    /// The client's position, as this server or another one has sealed it. The batch there is looked up, to prove that
    /// the client's copy is of this history, or that the database went back.
    package var place: Head?
    /// Past cursors as the client sent them: looked up if the present one lies in what the database lost.
    package var ends: [String] = []
    /// The number up to which the client has acknowledged outcomes.
    package var ackedThrough: Int64 = 0

    /// The number to look up.
    package var lineage: SequenceNumber? { place?.seq }

    /// Returns the search for the position from which the client continues; `nil` if there is none to make. That is so
    /// if its cursor is of this history, not under the seal, or behind the horizon, or if it sent no past cursors.
    package func search(in snapshot: SessionSnapshot, _ context: SessionContext) -> EndSearch? {
        guard let place, !ends.isEmpty, snapshot.hasLost(place) else { return nil }
        let heads = ends.prefix(Hello.endsMax).compactMap { context.place(of: $0, in: workspace) }
        return EndSearch(among: heads, head: snapshot.head, horizon: snapshot.horizon)
    }
}

/// A stretch of catch-up.
package struct WindowRequest: Hashable, Sendable {
    package var workspace: WorkspaceID
    package var scopes: [ScopeID]
    package var after: SequenceNumber
    package var span: Int64
}
