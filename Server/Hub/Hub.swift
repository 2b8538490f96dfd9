package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore
import TidemarkWire

/// The sessions of one event loop, their access, and the recent batches: the hub decides who gets what.
///
/// A pure machine: `apply` takes a ``HubEvent`` and adds effects, and no call waits. An executor owns one hub on each
/// event loop and carries the effects out.
package struct Hub: Sendable {
    /// The hub's state of one workspace.
    struct WorkspaceState: Sendable {
        var ring: Ring
        var byScope: [ScopeID: Set<SessionID>] = [:]
        var byUser: [UserID: Set<SessionID>] = [:]
        var byClient: [ClientID: SessionID] = [:]
        /// Sessions that are not live, or hold pages: they are served whenever the tail moves.
        var behind: Set<SessionID> = []
        var attendance: Attendance
    }

    /// The context that sessions adopt with their next event.
    private(set) var context: SessionContext
    let limits: HubLimits
    /// A name that is unique among the hubs of all nodes on the store.
    let name: String
    /// The time of the last event that had one.
    var clock: Milliseconds = 0
    var sessions: [SessionID: Session] = [:]
    var workspaces: [WorkspaceID: WorkspaceState] = [:]
    /// Bytes in the rings of all workspaces.
    package internal(set) var ringBytes = 0
    /// The counts of ephemeral messages on this hub.
    package internal(set) var counts = EphemeralCounts()
    private var isDraining = false

    package init(context: SessionContext, limits: HubLimits = HubLimits(), name: String = "") {
        self.context = context
        self.limits = limits
        self.name = name
    }

    /// Returns the session of that id, for tests and diagnostics.
    package func session(_ id: SessionID) -> Session? { sessions[id] }

    /// Returns the tail that this hub has delivered up to; `nil` for a workspace that it does not follow.
    package func tail(of workspace: WorkspaceID) -> Head? { workspaces[workspace]?.ring.tail }

    /// Returns the recent batches of a workspace, for tests and diagnostics; `nil` for one that it does not follow.
    package func ring(of workspace: WorkspaceID) -> Ring? { workspaces[workspace]?.ring }

    // MARK: Events

    /// Handles one event; nothing here waits.
    ///
    /// - Parameters:
    ///   - now: the time of the event.
    ///   - effects: the resulting effects are added, in order.
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

    /// Changes a session in place: reading it through the dictionary would copy all of it.
    mutating func withSession<Value>(_ id: SessionID, _ body: (inout Session) -> Value) -> Value? {
        guard let index = sessions.index(forKey: id) else { return nil }
        return body(&sessions.values[index])
    }

    /// Runs one event on a session and updates the indices with its changes.
    mutating func update(
        _ id: SessionID, into effects: inout [SessionEffect],
        _ event: (inout Session, () -> Ring?, inout [SessionEffect]) -> Void
    ) {
        let (workspaces, context) = (workspaces, context)
        let change = withSession(id) { session -> (WorkspaceID, Session.IndexNote)? in
            let workspace = session.identity?.workspace
            if session.context !== context { session.adopt(context, into: &effects) }
            event(&session, { workspace.flatMap { workspaces[$0]?.ring } }, &effects)
            let note = session.takeIndexNote()
            guard let workspace, let note else { return nil }
            return (workspace, note)
        }
        guard case let (workspace, note)?? = change else { return }
        take(note, of: id, in: workspace)
    }

    // MARK: Connections

    /// Accepts a connection; `headerToken` is its bearer header, if it had one.
    package mutating func opened(
        _ id: SessionID, headerToken: String?, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        var session = Session(id: id, context: context, headerToken: headerToken, now: now)
        clock = now
        if isDraining { session.close(.unavailable, "the server is stopping", into: &effects) }
        sessions[id] = session
    }

    /// Handles one message of a client.
    package mutating func received(
        _ id: SessionID, _ bytes: [UInt8], now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            session.received(bytes, now: now, ring: ring(), into: &effects)
        }
        spread(from: id, into: &effects)
    }

    /// Handles the loss of a connection.
    mutating func lost(_ id: SessionID) {
        guard var session = sessions[id] else { return }
        session.lost()
        forget(session)
        sessions[id] = nil
    }

    /// Handles a socket's buffer that filled or drained.
    package mutating func writabilityChanged(
        _ id: SessionID, isWritable: Bool, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            session.writabilityChanged(isWritable, now: now, ring: ring(), into: &effects)
        }
    }

    /// Closes a client's connection, since another hub of this process accepted a newer one.
    mutating func superseded(_ client: ClientID, in workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard let id = workspaces[workspace]?.byClient[client] else { return }
        update(id, into: &effects) { session, _, effects in
            session.close(.connectedElsewhere, "the client connected again", into: &effects)
        }
    }

    /// Closes a connection of this hub in the same way by its id, if it is still open.
    mutating func superseded(_ id: SessionID, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in
            session.close(.connectedElsewhere, "the client connected again", into: &effects)
        }
    }

    /// Closes a connection whose client is no longer registered, if it is still open.
    mutating func removed(_ id: SessionID, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in
            session.close(.clientUnknown, "this client id was removed", into: &effects)
        }
    }

    /// Adopts another schema. Each session adopts it with its next event, at the latest with the next tick, so that not
    /// all of them are updated at once.
    mutating func adopt(_ context: SessionContext) { self.context = context }

    // MARK: Answers of the executor

    /// Handles the answer to `verify`.
    mutating func verified(
        _ id: SessionID, _ verdict: TokenVerdict, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, _, effects in session.verified(verdict, now: now, into: &effects) }
    }

    /// Handles the answer to `load`. The workspace must be followed by now.
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

    /// Handles a failed `load`.
    mutating func loadFailed(_ id: SessionID, now: Milliseconds, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in session.loadFailed(now: now, into: &effects) }
    }

    /// Handles a connection to an erased workspace, which need not be followed.
    mutating func erased(_ id: SessionID, now: Milliseconds, into effects: inout [SessionEffect]) {
        update(id, into: &effects) { session, _, effects in session.closeErased(now: now, into: &effects) }
    }

    /// Handles the answer to `readWindow`.
    package mutating func windowRead(
        _ id: SessionID, _ window: Window, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let ring = ring() else { return }
            session.windowRead(window, now: now, ring: ring, into: &effects)
        }
    }

    /// Handles the answer to `readPage`; `nil` when the store failed.
    mutating func pageRead(
        _ id: SessionID, _ request: PageRequest, _ page: Page?, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let page else { return session.pageFailed(request, into: &effects) }
            session.pageRead(request, page, into: &effects)
            session.releasePages(upTo: ring()?.tail.seq, into: &effects)
        }
    }

    /// Handles the answer to `readHistory`; `nil` when the store failed.
    mutating func historyRead(
        _ id: SessionID, _ request: HistoryRequest, _ page: LedgerPage?, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard let page else { return session.historyFailed(request, into: &effects) }
            session.historyRead(request, page, into: &effects)
            session.releasePages(upTo: ring()?.tail.seq, into: &effects)
        }
    }

    /// Handles the answer to `readComparison`; `isRead` is false when the store failed.
    mutating func compared(
        _ id: SessionID, _ comparison: Comparison, isRead: Bool, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, ring, effects in
            guard isRead else { return session.compareFailed(comparison.request, into: &effects) }
            session.compared(comparison, into: &effects)
            session.releasePages(upTo: ring()?.tail.seq, into: &effects)
        }
    }

    /// Handles the sequencer's outcome of one submission.
    mutating func settled(
        _ id: SessionID, _ outcome: PushOutcome, pushEnd: Int64?, into effects: inout [SessionEffect]
    ) {
        update(id, into: &effects) { session, _, effects in
            session.settled(outcome, pushEnd: pushEnd, into: &effects)
        }
    }

    // MARK: Time and end

    /// Handles the passing of time: deadlines, expiries, progress. Called about once a second.
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

    /// Prepares for the process's stop: notifies every client, and closes each connection once its pushes are settled.
    mutating func drain(into effects: inout [SessionEffect]) {
        guard !isDraining else { return }
        isDraining = true
        for id in sessions.keys.sorted() {
            update(id, into: &effects) { session, _, effects in session.drain(into: &effects) }
        }
    }
}
