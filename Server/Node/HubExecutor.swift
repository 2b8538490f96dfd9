import NIOCore
import Synchronization
import TidemarkEdge
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry

/// The connections of one event loop: turns what happens on their sockets into events of one `Hub`, and carries out
/// what it decides. Touched only on its loop, so that a delivery costs no lock.
final class HubExecutor: SocketOwner {
    /// One socket, whether it has unflushed frames, and whether its session wants to know when it has room.
    final class Connection {
        let socket: Socket
        var isTouched = false
        var awaitsRoom = false
        /// It does not take what it is sent.
        var isSlow = false
        var isWelcomed = false
        /// Its client id is being registered.
        var isNew = false
        let since: Milliseconds
        /// When its last message came.
        var heard: Milliseconds
        /// Of frames that were handed to the socket.
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
    /// What goes to the sequencer at the end of the loop's turn: no more than sessions may have unanswered.
    var submissions: [GroupCommit.Entry] = []
    var lanes = GroupCommit.KnownLanes()
    /// The frame that was sent last, as it stands on the socket.
    var framed: (frame: Frame, bytes: ByteBuffer)?
    var frameBuffers = FrameBuffers()
    /// Frames that were handed to sockets.
    var framesSent = 0
    /// The times of batches of which frames are on sockets, and not flushed.
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
        node.connectionCounts.leave(socket.id)
        apply(.lost(socket.id))
    }

    // MARK: Events

    /// Applies a burst, writes as it goes, and flushes each touched socket once at the end.
    func apply(_ events: [HubEvent]) {
        for event in events { apply(event, flushes: false) }
        flush()
    }

    /// Runs one event and everything that follows from it.
    ///
    /// A write can fill a socket's buffer, which tells this hub so at once, in the middle of carrying out: such an inner
    /// event only adds its effects to those that the outer call is working through.
    func apply(_ event: HubEvent, flushes: Bool = true) {
        // Who was signed out while it was being read is not told what was read.
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
        // A flush can make a socket writable again, which may write more, before it returns.
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

    /// What was committed is on its way to whoever sees it.
    private func noteFlushed() {
        guard !sentBatches.isEmpty else { return }
        let now = node.now()
        for time in sentBatches { node.metrics.commitToSocket.record(.milliseconds(now - time)) }
        sentBatches.removeAll(keepingCapacity: true)
    }

    private func note(_ connection: Connection?, isSlow: Bool) {
        guard let connection, connection.isSlow != isSlow else { return }
        connection.isSlow = isSlow
        inbox.slow.wrappingAdd(isSlow ? 1 : -1, ordering: .relaxed)
    }

    /// The edge tells of room only where there was none before; who asked is told in any case.
    private func tellRoom(_ connection: Connection) {
        connection.awaitsRoom = false
        apply(.writabilityChanged(connection.socket.id, isWritable: true))
    }
}
