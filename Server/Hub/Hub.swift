package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore
import TidemarkWire

/// The sessions of one event loop, what each may see, and the recent batches: it says who gets what.
///
/// A pure machine. A ``HubEvent`` comes in by `apply`, effects come out, and no call waits. An executor owns one on each event
/// loop and carries the effects out.
package struct Hub: Sendable {
    /// What this hub knows of one workspace.
    struct WorkspaceState: Sendable {
        var ring: Ring
        var byScope: [ScopeID: Set<SessionID>] = [:]
        var byUser: [UserID: Set<SessionID>] = [:]
        var byClient: [ClientID: SessionID] = [:]
        /// Sessions that are not live, or hold pages: served whenever the tail moves.
        var behind: Set<SessionID> = []
        var attendance: Attendance
    }

    /// What sessions go by from their next event on.
    private(set) var context: SessionContext
    let limits: HubLimits
    /// Unique among the hubs of all nodes on the store.
    let name: String
    /// The time of the last event that had one.
    var clock: Milliseconds = 0
    var sessions: [SessionID: Session] = [:]
    var workspaces: [WorkspaceID: WorkspaceState] = [:]
    /// Bytes in the rings of all workspaces.
    package internal(set) var ringBytes = 0
    /// What became of ephemeral messages here.
    package internal(set) var counts = EphemeralCounts()
    private var isDraining = false

    package init(context: SessionContext, limits: HubLimits = HubLimits(), name: String = "") {
        self.context = context
        self.limits = limits
        self.name = name
    }

    /// Open connections.
    package var sessionCount: Int { sessions.count }

    /// The session of that id, for tests and diagnostics.
    package func session(_ id: SessionID) -> Session? { sessions[id] }

    /// The tail that this hub has delivered up to; `nil` for a workspace that it does not follow.
    package func tail(of workspace: WorkspaceID) -> Head? { workspaces[workspace]?.ring.tail }

    /// The recent batches of a workspace, for tests and diagnostics; `nil` for one that it does not follow.
    package func ring(of workspace: WorkspaceID) -> Ring? { workspaces[workspace]?.ring }

    // MARK: Connections

    /// A connection was accepted; `headerToken` is its bearer header, if it had one.
    package mutating func opened(
        _ id: SessionID, headerToken: String?, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        var session = Session(id: id, context: context, headerToken: headerToken, now: now)
        clock = now
        if isDraining { session.close(.unavailable, "the server is stopping", into: &effects) }
        sessions[id] = session
    }

    /// One message arrived.
    package mutating func received(
        _ id: SessionID, _ bytes: [UInt8], now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            session.received(bytes, now: now, ring: ring(), into: &effects)
        }
        spread(from: id, into: &effects)
    }

    /// The connection is gone.
    mutating func lost(_ id: SessionID) {
        guard var session = sessions[id] else { return }
        session.lost()
        forget(session)
        sessions[id] = nil
    }

    /// The socket's buffer filled or drained.
    package mutating func writabilityChanged(
        _ id: SessionID, isWritable: Bool, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            session.writabilityChanged(isWritable, now: now, ring: ring(), into: &effects)
        }
    }

    /// Another connection of the same client was accepted by another hub of this process.
    mutating func superseded(_ client: ClientID, in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard let id = workspaces[workspace]?.byClient[client] else { return }
        update(id, into: &effects) { session, _, effects in
            session.close(.connectedElsewhere, "the client connected again", into: &effects)
        }
    }

    /// The same for a connection of this hub that is known by its id; nothing happens when it is gone.
    mutating func superseded(_ id: SessionID, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in
            session.close(.connectedElsewhere, "the client connected again", into: &effects)
        }
    }

    /// The client of a connection is registered no more; nothing happens when the connection is gone.
    mutating func removed(_ id: SessionID, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in
            session.close(.clientUnknown, "this client id was removed", into: &effects)
        }
    }

    /// Another schema came in force. Sessions learn of it with their next event; each has one at least with the next tick, so
    /// that nothing is done for all of them at once.
    mutating func adopt(_ context: SessionContext) { self.context = context }

    // MARK: Answers of the executor

    /// The answer to `verify`.
    mutating func verified(
        _ id: SessionID, _ verdict: TokenVerdict, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, _, effects in session.verified(verdict, now: now, into: &effects) }
    }

    /// The answer to `load`. The workspace must be followed by now.
    package mutating func loaded(
        _ id: SessionID, _ answer: LoadAnswer, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        guard let before = sessions[id], let workspace = before.identity?.workspace else { return }
        guard workspaces[workspace] != nil else {
            return update(id, into: &effects) { $0.loadFailed(now: now, into: &$2) }
        }
        let isFirst = !before.isStreaming
        update(id, into: &effects) { session, ring, effects in
            guard let ring = ring() else { return }
            session.loaded(answer, now: now, ring: ring, into: &effects)
        }
        if isFirst, let session = sessions[id], session.isStreaming { enter(session, workspace, into: &effects) }
    }

    /// `load` failed.
    mutating func loadFailed(_ id: SessionID, now: Milliseconds, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in session.loadFailed(now: now, into: &effects) }
    }

    /// The workspace is erased; it need not be followed.
    mutating func erased(_ id: SessionID, now: Milliseconds, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in session.closeErased(now: now, into: &effects) }
    }

    /// The answer to `readWindow`.
    package mutating func windowRead(
        _ id: SessionID, _ window: Window, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let ring = ring() else { return }
            session.windowRead(window, now: now, ring: ring, into: &effects)
        }
    }

    /// The answer to `readPage`; `nil` when the store failed.
    mutating func pageRead(
        _ id: SessionID, _ request: PageRequest, _ page: Page?, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let page else { return session.pageFailed(request, into: &effects) }
            session.pageRead(request, page, into: &effects)
            session.releasePages(upTo: ring()?.tail.seq, into: &effects)
        }
    }

    /// The answer to `readHistory`; `nil` when the store failed.
    mutating func historyRead(
        _ id: SessionID, _ request: HistoryRequest, _ page: LedgerPage?, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let page else { return session.historyFailed(request, into: &effects) }
            session.historyRead(request, page, into: &effects)
            session.releasePages(upTo: ring()?.tail.seq, into: &effects)
        }
    }

    /// The sequencer's word on one submission.
    mutating func settled(
        _ id: SessionID, _ outcome: PushOutcome, pushEnd: Int64?, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, _, effects in
            session.settled(outcome, pushEnd: pushEnd, into: &effects)
        }
    }

    // MARK: Time and end

    /// Time passed: deadlines, expiries, progress. Call about once a second.
    package mutating func tick(now: Milliseconds, into effects: inout [SessionEffect]) {
        forgetBatches(olderThan: now - limits.ringAgeMax)
        clock = now
        for id in sessions.keys.sorted() {
            update(id, into: &effects) { session, ring, effects in
                session.tick(now: now, ring: ring(), into: &effects)
            }
        }
        for workspace in workspaces.keys.sorted() { tickPresence(in: workspace, into: &effects) }
    }

    /// The process is about to stop: tells every client, closes each once its pushes are settled.
    mutating func drain(into effects: inout [SessionEffect]) {
        guard !isDraining else { return }
        isDraining = true
        for id in sessions.keys.sorted() {
            update(id, into: &effects) { session, _, effects in session.drain(into: &effects) }
        }
    }
}
