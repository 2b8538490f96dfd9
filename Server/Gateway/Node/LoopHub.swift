import NIOCore
import TidemarkFanOut
import TidemarkModel
import TidemarkSequencer
import TidemarkSession

/// The connections of one event loop: turns what happens on their sockets into events of one `FanOut`, and carries out
/// what it decides. Touched only on its loop, so that a delivery costs no lock.
final class LoopHub: SocketOwner {
    /// One socket, whether it has unflushed frames, and whether its session wants to know when it has room.
    final class Connection {
        let socket: Socket
        var isTouched = false
        var awaitsRoom = false
        var isWelcomed = false

        init(_ socket: Socket) { self.socket = socket }
    }

    let node: Node
    let inbox: LoopInbox
    var fanOut: FanOut
    var connections: [SessionID: Connection] = [:]
    /// Sockets with unflushed frames.
    var touched: [Connection] = []
    /// What goes to the sequencer at the end of the loop's turn: no more than sessions may have unanswered.
    var submissions: [GroupCommit.Entry] = []
    /// The frame that was sent last, as it stands on the socket.
    var framed: (frame: Frame, bytes: ByteBuffer)?
    var frameBuffers = FrameBuffers()
    private var effects: [SessionEffect] = []
    private var isCarryingOut = false
    private var isFlushing = false
    private var isDraining = false
    private var ticks: RepeatedTask?

    init(node: Node, inbox: LoopInbox) {
        self.node = node
        self.inbox = inbox
        fanOut = FanOut(context: node.context, limits: node.fanOutLimits, name: "\(node.parts.id).\(inbox.number)")
        let period = TimeAmount(node.limits.tickEvery)
        let bound = NIOLoopBound(self, eventLoop: inbox.eventLoop)
        ticks = inbox.eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.tick() }
    }

    /// Stops the timer, which holds the hub.
    func stop() {
        ticks?.cancel()
        ticks = nil
    }

    // MARK: Sockets

    package func opened(_ socket: Socket) {
        connections[socket.id] = Connection(socket)
        react { fanOut, now, effects in
            fanOut.opened(socket.id, headerToken: socket.bearerToken, now: now, into: &effects)
        }
    }

    package func received(_ socket: Socket, text: [UInt8]) {
        react { fanOut, now, effects in
            fanOut.received(socket.id, text, now: now, into: &effects)
        }
    }

    package func writabilityChanged(_ socket: Socket, isWritable: Bool) {
        react { fanOut, now, effects in
            fanOut.writabilityChanged(socket.id, isWritable: isWritable, now: now, into: &effects)
        }
    }

    package func draining(_ socket: Socket) {
        drain()
    }

    package func closed(_ socket: Socket) {
        connections[socket.id] = nil
        node.census.leave(socket.id)
        fanOut.lost(socket.id)
    }

    // MARK: Letters and time

    /// Applies a burst, writes as it goes, and flushes each touched socket once at the end.
    func open(_ letters: [LoopInbox.Letter]) {
        for letter in letters {
            react(flushes: false) { fanOut, now, effects in
                fanOut.apply(letter, now: now, into: &effects)
            }
            switch letter {
            case .loaded(let id, _): noteWelcome(id)
            case .drain: drain()
            default: break
            }
        }
        flush()
    }

    /// Tells every client, once; connections that come later are closed by the fan-out.
    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        react { fanOut, _, effects in fanOut.drain(into: &effects) }
    }

    private func tick() {
        react { fanOut, now, effects in fanOut.tick(now: now, into: &effects) }
    }

    /// Runs one event and everything that follows from it.
    ///
    /// A write can fill a socket's buffer, which tells this hub so at once, in the middle of carrying out: such an inner
    /// event only adds its effects to those that the outer call is working through.
    private func react(
        flushes: Bool = true, _ event: (inout FanOut, Milliseconds, inout [SessionEffect]) -> Void
    ) {
        event(&fanOut, node.now(), &effects)
        guard !isCarryingOut else { return }
        isCarryingOut = true
        var index = 0
        while index < effects.count {
            carryOut(effects[index])
            index += 1
        }
        effects.removeAll(keepingCapacity: true)
        isCarryingOut = false
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
    }

    /// The edge tells of room only where there was none before; who asked is told in any case.
    private func tellRoom(_ connection: Connection) {
        connection.awaitsRoom = false
        react { fanOut, now, effects in
            fanOut.writabilityChanged(connection.socket.id, isWritable: true, now: now, into: &effects)
        }
    }
}

extension FanOut {
    fileprivate mutating func apply(
        _ letter: LoopInbox.Letter, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        switch letter {
        case .follow(let workspace, let head): follow(workspace, from: head)
        case .unfollow(let workspace): unfollow(workspace, into: &effects)
        case .committed(let workspace, let batch): committed(batch, in: workspace, now: now, into: &effects)
        case .missed(let workspace, let head): missed(upTo: head, in: workspace, now: now, into: &effects)
        case .rewound(let workspace, let head): rewound(to: head, in: workspace, into: &effects)
        case .loaded(let id, let answer): loaded(id, answer, now: now, into: &effects)
        case .loadFailed(let id): loadFailed(id, now: now, into: &effects)
        case .windowRead(let id, let window): windowRead(id, window, now: now, into: &effects)
        case .pageRead(let id, let request, let page): pageRead(id, request, page, now: now, into: &effects)
        case .historyRead(let id, let request, let page): historyRead(id, request, page, into: &effects)
        case .settled(let id, let outcome, let pushEnd): settled(id, outcome, pushEnd: pushEnd, into: &effects)
        case .heard(let workspace, let word): heard(word, in: workspace, into: &effects)
        case .superseded(let id): superseded(id, into: &effects)
        case .removed(let id): removed(id, into: &effects)
        case .drain: break
        }
    }
}
