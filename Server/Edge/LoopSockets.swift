import NIOCore
import Synchronization

/// The sockets of one event loop, their owner, and the one timer that looks after all of them. Stays on its loop.
final class LoopSockets {
    let owner: any SocketOwner
    let limits: EdgeLimits
    private let eventLoop: any EventLoop
    private var handlers: [UInt64: SocketHandler] = [:]
    private var sweep: RepeatedTask?

    init(owner: any SocketOwner, limits: EdgeLimits, eventLoop: any EventLoop) {
        self.owner = owner
        self.limits = limits
        self.eventLoop = eventLoop
    }

    func insert(_ handler: SocketHandler) {
        handlers[handler.socket.id] = handler
        guard sweep == nil else { return }
        let period = TimeAmount(limits.sweepEvery)
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        sweep = eventLoop.scheduleRepeatedTask(initialDelay: period, delay: period) { _ in bound.value.sweepAll() }
    }

    func remove(_ handler: SocketHandler) {
        handlers[handler.socket.id] = nil
        guard handlers.isEmpty else { return }
        sweep?.cancel()
        sweep = nil
    }

    private func sweepAll() {
        let now = eventLoop.now
        for handler in handlers.values { handler.sweep(at: now) }
    }
}

/// Finds, or makes, what belongs to an event loop.
final class LoopDirectory: Sendable {
    private let limits: EdgeLimits
    private let makeOwner: @Sendable (any EventLoop) -> any SocketOwner
    private let loops = Mutex<[ObjectIdentifier: NIOLoopBound<LoopSockets>]>([:])

    init(limits: EdgeLimits, makeOwner: @escaping @Sendable (any EventLoop) -> any SocketOwner) {
        self.limits = limits
        self.makeOwner = makeOwner
    }

    /// Call on `eventLoop`: only that thread asks for its entry, so nobody else can make it between the two locks.
    func sockets(on eventLoop: any EventLoop) -> LoopSockets {
        eventLoop.preconditionInEventLoop()
        let key = ObjectIdentifier(eventLoop)
        if let known = loops.withLock({ $0[key] }) { return known.value }
        let made = LoopSockets(owner: makeOwner(eventLoop), limits: limits, eventLoop: eventLoop)
        let bound = NIOLoopBound(made, eventLoop: eventLoop)
        loops.withLock { $0[key] = bound }
        return made
    }
}
