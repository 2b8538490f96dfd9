import NIOCore
import TidemarkEdge
import TidemarkHub
import TidemarkLock
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

/// The connections of one event loop: turns the events of their sockets into events of one `Hub`, and carries out its
/// decisions. Touched only on its loop, so that a delivery costs no lock.
final class HubExecutor: SocketOwner {
    /// One socket, whether it has unflushed frames, and whether its session waits for room in its buffer.
    final class Connection {
        let socket: Socket
        var isTouched = false
        var awaitsRoom = false
        /// True when the socket accepts no more bytes at present.
        var isSlow = false
        var isWelcomed = false
        /// True after the client has reported a difference between its copy and the server's: a connection is counted
        /// once.
        var hasDiverged = false
        /// True while its client id is being registered.
        var isNew = false
        let since: Milliseconds
        /// The time of its last message.
        var heard: Milliseconds
        /// Bytes of frames that were written to the socket.
        var bytes: Int64 = 0

        init(_ socket: Socket, now: Milliseconds) {
            self.socket = socket
            since = now
            heard = now
        }
    }

    let node: Node
    let inbox: HubInbox
    var hub: Hub
    var connections: [SessionID: Connection] = [:]
    /// Sockets with unflushed frames.
    var touched: [Connection] = []
    /// Submissions that are handed to the sequencer at the end of the loop's turn: no more than sessions may have
    /// unanswered.
    var submissions: [GroupCommit.Entry] = []
    var lanes = GroupCommit.KnownLanes()
    var pace = RoundPace()
    /// The frame that was sent last, as bytes for the socket.
    var framed: (frame: Frame, bytes: ByteBuffer)?
    var frameBuffers = FrameBuffers()
    /// Frames that were written to sockets.
    var framesSent = 0
    /// The times of batches whose frames are written to sockets, and not flushed.
    private var sentBatches: [Milliseconds] = []
    private var effects: [SessionEffect] = []
    private var isCarryingOut = false
    private var isFlushing = false
    private var ticks: RepeatedTask?

    init(node: Node, inbox: HubInbox) {
        self.node = node
        self.inbox = inbox
        hub = Hub(context: node.context, limits: node.hubLimits, name: "\(node.parts.id).\(inbox.number)")
        let period = TimeAmount(node.limits.tickEvery)
        let bound = NIOLoopBound(self, eventLoop: inbox.eventLoop)
        ticks = inbox.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in
            bound.value.apply(.tick)
        }
    }

    /// Stops the timer, which holds the hub.
    func stop() {
        ticks?.cancel()
        ticks = nil
    }

    // MARK: Sockets

    package func opened(_ socket: Socket) {
        connections[socket.id] = Connection(socket, now: node.now())
        inbox.sockets.set(connections.count)
        apply(.opened(socket.id, headerToken: socket.bearerToken))
    }

    package func received(_ socket: Socket, text: [UInt8]) {
        connections[socket.id]?.heard = node.now()
        apply(.received(socket.id, text))
    }

    package func writabilityChanged(_ socket: Socket, isWritable: Bool) {
        note(connections[socket.id], isSlow: !isWritable)
        apply(.writabilityChanged(socket.id, isWritable: isWritable))
    }

    package func draining(_ socket: Socket) {
        apply(.drain)
    }

    package func closed(_ socket: Socket) {
        noteClosed(socket)
        note(connections[socket.id], isSlow: false)
        connections[socket.id] = nil
        inbox.sockets.set(connections.count)
        node.connectionCounts.leave(socket.id)
        apply(.lost(socket.id))
    }

    // MARK: Events

    /// Applies a burst of events, and flushes each touched socket once at the end.
    func apply(_ events: [HubEvent]) {
        for event in events { apply(event, flushes: false) }
        flush()
    }

    /// Runs one event and everything that follows from it.
    ///
    /// A write can fill a socket's buffer, which raises another event while effects are being carried out. Such an
    /// inner event only adds its effects to those that the outer call is working through.
    func apply(_ event: HubEvent, flushes: Bool = true) {
        // A client that was signed out during the read must not receive the result.
        if case .loaded(let id, _) = event { judge(id) }
        hub.apply(event, now: node.now(), into: &effects)
        guard !isCarryingOut else { return }
        isCarryingOut = true
        let framesBefore = framesSent
        var index = 0
        while index < effects.count {
            carryOut(effects[index])
            index += 1
        }
        effects.removeAll(keepingCapacity: true)
        isCarryingOut = false
        if case .committed(_, let batch) = event, framesSent != framesBefore { sentBatches.append(batch.head.time) }
        if case .loaded(let id, _) = event {
            noteWelcome(id)
            connections[id]?.isNew = false
        }
        if case .verified(let id, _) = event { judge(id) }
        if flushes { flush() }
    }

    private func flush() {
        // A flush can make a socket writable again before it returns, which may lead to more writes.
        guard !isFlushing else { return }
        isFlushing = true
        while let connection = touched.popLast() {
            connection.isTouched = false
            connection.socket.flush()
            if connection.awaitsRoom, connection.socket.isWritable { tellRoom(connection) }
        }
        isFlushing = false
        framed = nil
        noteFlushed()
    }

    /// Records the time from commit to socket of the batches that were flushed.
    private func noteFlushed() {
        guard !sentBatches.isEmpty else { return }
        let now = node.now()
        for time in sentBatches { node.metrics.commitToSocket.record(.milliseconds(now - time)) }
        sentBatches.removeAll(keepingCapacity: true)
    }

    private func note(_ connection: Connection?, isSlow: Bool) {
        guard let connection, connection.isSlow != isSlow else { return }
        connection.isSlow = isSlow
        inbox.slow.add(isSlow ? 1 : -1)
    }

    /// Reports room to a session that asked for it. The edge reports only a change from full to writable.
    private func tellRoom(_ connection: Connection) {
        connection.awaitsRoom = false
        apply(.writabilityChanged(connection.socket.id, isWritable: true))
    }
}

extension HubExecutor {
    /// Carries out an effect; nothing here waits.
    func carryOut(_ effect: SessionEffect) {
        switch effect {
        case .send(let id, let frame): send(frame, to: id)
        case .close(let id, let code, let reason):
            connections[id]?.socket.close(code: code.rawValue, reason: reason)
        case .awaitRoom(let id): connections[id]?.awaitsRoom = true
        case .verify(let id, let token):
            node.verify(token, of: connections[id]?.socket.remoteAddress?.ipAddress, for: id, replyTo: inbox)
        case .load(let id, let request):
            guard let connection = connections[id] else { return }
            connection.socket.markAuthenticated()
            connection.isNew = request.registers
            if let session = hub.session(id), let revoked = revoked(session, connection) {
                return apply(.tokenRevoked(id, revoked), flushes: false)
            }
            guard node.connectionCounts.enter(id, .init(workspace: request.workspace, user: request.user)) else {
                return connection.socket.close(
                    code: CloseCode.rateLimited.rawValue, reason: "the user has too many connections")
            }
            node.load(request, for: id, replyTo: inbox)
        case .readWindow(let id, let request): node.readWindow(request, for: id, replyTo: inbox)
        case .readPage(let id, let workspace, let request):
            node.readPage(request, in: workspace, for: id, replyTo: inbox)
        case .readHistory(let id, let workspace, let request):
            node.readHistory(request, in: workspace, for: id, replyTo: inbox)
        case .readComparison(let id, let workspace, let comparison):
            node.read(comparison, in: workspace, for: id, replyTo: inbox)
        case .submit(let id, let workspace, let submission):
            submit(submission, in: workspace, for: id)
        case .noteDivergence(let id, let records):
            guard let session = hub.session(id), let identity = session.identity else { return }
            let isFirst = connections[id]?.hasDiverged == false
            connections[id]?.hasDiverged = true
            node.note(
                divergence: records, isFirst: isFirst, of: session.client, identity, on: connections[id]?.socket)
        case .noteStuck(let id, let count):
            guard let session = hub.session(id), let identity = session.identity else { return }
            node.note(stuck: count, session.client, identity, on: connections[id]?.socket)
        case .tell(let workspace, let word): node.tell(word, in: workspace, from: inbox)
        }
    }

    /// Keeps a submission until the loop has served all sockets that are ready, so that the lane is woken once for the
    /// submissions of all of them.
    private func submit(_ submission: Submission, in workspace: WorkspaceID, for id: SessionID) {
        if submissions.isEmpty {
            inbox.eventLoop.execute { [inbox] in inbox.executor.value?.handOver() }
        }
        let (pushEnd, begun, answers) = (submission.pushEnd, ContinuousClock.now, node.metrics.pushAnswer)
        let line = pushEnd == nil ? nil : node.pushLine(of: submission.client, hub.session(id)?.trace)
        submissions.append(
            GroupCommit.Entry(
                submission, in: workspace,
                completion: node.noting(submission, in: workspace) { [inbox] outcome in
                    if pushEnd != nil { answers.record(begun.duration(to: .now)) }
                    line?(outcome, begun.duration(to: .now))
                    inbox.post(.settled(id, outcome, pushEnd: pushEnd))
                }))
    }

    private func handOver() {
        node.commits.submit(submissions, knowing: &lanes)
        submissions.removeAll(keepingCapacity: true)
    }

    private func send(_ frame: Frame, to id: SessionID) {
        guard let connection = connections[id] else { return }
        if let refusal = frame.refusal { node.note(refusal, to: connection.socket, hub.session(id)?.trace) }
        framesSent += 1
        connection.bytes += Int64(frame.bytes.count)
        let bytes: ByteBuffer
        if let framed, framed.frame === frame {
            bytes = framed.bytes
        } else {
            bytes = frameBuffers.text(frame.bytes)
            framed = (frame, bytes)
        }
        connection.socket.write(bytes)
        if !connection.isTouched {
            connection.isTouched = true
            touched.append(connection)
        }
    }

    /// Ends a connection whose token was revoked during the token's check or the read of the session's start. A later
    /// revocation finds the session in the hub.
    func judge(_ id: SessionID) {
        guard let connection = connections[id], let session = hub.session(id),
            let revoked = revoked(session, connection)
        else { return }
        apply(.tokenRevoked(id, revoked), flushes: false)
    }

    private func revoked(_ session: Session, _ connection: Connection) -> RevokedToken? {
        let device = connection.isNew ? DeviceClaim.unnamed : .named(session.client)
        return session.identity.flatMap { node.revocations.judge($0, device) }
    }

    /// Ends an older connection of the same client, on whichever loop it is, once the client has authenticated.
    func noteWelcome(_ id: SessionID) {
        guard let connection = connections[id], !connection.isWelcomed, let session = hub.session(id),
            session.isStreaming, let workspace = session.identity?.workspace
        else { return }
        connection.isWelcomed = true
        let client = ConnectionCounts.Client(workspace: workspace, client: session.client)
        node.sightings.note(
            client, app: session.app.flatMap { $0.isPlainName ? $0 : nil }, written: session.written,
            position: session.confirmed, now: node.now())
        guard let earlier = node.connectionCounts.welcome(client, at: .init(session: id, inbox: inbox)) else { return }
        earlier.inbox.post(.superseded(earlier.session))
    }
}

/// The events that other threads post for the hub of one event loop. Any thread posts; the loop takes all at once.
final class HubInbox: Sendable {
    private struct State {
        var events: [HubEvent] = []
        var bytes = 0
        /// Batches among the events.
        var batches = 0
        /// Messages of other hubs among the events; beyond `messagesMax` they are dropped.
        var messages = 0
        /// Workspaces whose batches no longer fit, with the head of the last batch that was left out.
        var overflow: [WorkspaceID: Head] = [:]
        var isScheduled = false
        /// The time of the oldest batch that is in the inbox or was left out.
        var oldest: Milliseconds?
    }

    /// The greatest number of messages of other hubs that one loop has not taken over yet.
    private static let messagesMax = 4_096
    /// The number of events at which a loop without sockets is woken; nobody waits for them earlier.
    private static let unheardMax = 64

    let eventLoop: any EventLoop
    /// The loop's index among the node's loops.
    let number: Int
    private let bytesMax: Int
    private let state = Lock(State())
    /// The number of the loop's sockets.
    let sockets = Lock<Int>(0)
    /// The number of the loop's sockets that accept no more bytes at present.
    let slow = Lock<Int>(0)
    /// The loop's executor; set and used on the loop.
    let executor: NIOLoopBoundBox<HubExecutor?>

    init(eventLoop: any EventLoop, number: Int, bytesMax: Int) {
        self.eventLoop = eventLoop
        self.number = number
        self.bytesMax = bytesMax
        executor = NIOLoopBoundBox.makeEmptyBox(eventLoop: eventLoop)
    }

    /// Adds an event; the first of a burst wakes the loop.
    func post(_ event: HubEvent) {
        let isHeard = sockets.current > 0
        let wakes = state.withLock { state in
            put(event, isHeard: isHeard, &state)
            if case .committed = event, !isHeard, state.overflow.isEmpty, state.events.count < Self.unheardMax {
                return false
            }
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if wakes { eventLoop.execute { self.deliver() } }
    }

    private func put(_ event: HubEvent, isHeard: Bool, _ state: inout State) {
        if case .heard = event {
            guard state.messages < Self.messagesMax else { return }
            state.messages += 1
        }
        // A workspace that begins again does not need the batches that were left out.
        if case .rewound(let workspace, _) = event { state.overflow[workspace] = nil }
        guard case .committed(let workspace, let batch) = event else { return state.events.append(event) }
        if state.oldest == nil, isHeard { state.oldest = batch.head.time }
        // The loop lags behind the commits: its clients will read the batches that are left out here from the store.
        guard state.overflow[workspace] == nil, state.bytes < bytesMax else {
            state.overflow[workspace] = batch.head
            return
        }
        state.bytes += batch.byteCount
        state.batches += 1
        state.events.append(event)
    }

    /// The time of the oldest batch that the loop's sockets wait for; `nil` when it has taken over all batches. Any
    /// thread.
    var oldest: Milliseconds? { state.withLock { $0.oldest } }

    /// The number of events that wait for the loop. Any thread.
    var waiting: Int { state.withLock { $0.events.count } }

    private func deliver() {
        let begun = eventLoop.now
        if let due = executor.value?.pace.pause(at: begun) {
            eventLoop.assumeIsolated().scheduleTask(deadline: due) { self.deliver() }
            return
        }
        let (events, batches) = state.withLock { state in
            var events = state.events
            for (workspace, head) in state.overflow { events.append(.missed(workspace, head)) }
            defer { state = State() }
            return (events, state.batches)
        }
        executor.value?.apply(events)
        executor.value?.pace.ended(begun: begun, now: eventLoop.now, batches: batches)
    }
}

/// The pace at which a loop delivers posted events: at once, except for a pause after a long round with several
/// batches. `ROUNDS.md` explains why. Pure.
struct RoundPace {
    /// The shortest round that is followed by a pause.
    static let shortMax = TimeAmount.milliseconds(1)
    /// The longest pause.
    static let pauseMax = TimeAmount.milliseconds(10)

    private var due = NIODeadline.uptimeNanoseconds(0)

    /// Returns the time until which the next round waits; `nil` when it may begin.
    func pause(at now: NIODeadline) -> NIODeadline? { now < due ? due : nil }

    /// Records that a round ended. The pause is as long as the round was.
    mutating func ended(begun: NIODeadline, now: NIODeadline, batches: Int) {
        let took = now - begun
        guard took >= Self.shortMax, batches > 1 else { return }
        due = now + min(took, Self.pauseMax)
    }
}
