import Foundation
import NIOCore
import TidemarkLock
import TidemarkPostgres

/// The load generator's own event loop: one thread, on which all its sockets and counters live.
///
/// It shares the machine with the server that it measures, so it does nothing but read every socket into one buffer and
/// hand it over where it lies. It lives as long as the process.
///
/// `@unchecked Sendable`: what is not behind a lock is touched on the loop's thread only, and `watch`, the one way to
/// it from outside, checks that.
final class LoadLoop: EventLoop, @unchecked Sendable {
    private struct Timer {
        let number: UInt64
        let deadline: NIODeadline
        let fire: @Sendable () -> Void
    }

    private struct Timers {
        var waiting: [Timer] = []
        var last: UInt64 = 0

        /// The one that is due for the longest time.
        mutating func take(dueAt now: NIODeadline) -> Timer? {
            guard let place = waiting.indices.min(by: { waiting[$0].deadline < waiting[$1].deadline }),
                waiting[place].deadline <= now
            else { return nil }
            return waiting.remove(at: place)
        }
    }

    private static let wakeToken = UInt64.max
    private static let readBytes = 1_048_576

    private let signal: WakeSignal
    private let tasks = Lock<[@Sendable () -> Void]>([])
    private let timers = Lock(Timers())
    private let thread = Lock<UInt>(0)

    private var poller: Poller
    private var sockets: [UInt64: LoadSocket] = [:]
    private var lastSocket: UInt64 = 0
    private var buffer = [UInt8](repeating: 0, count: LoadLoop.readBytes)
    /// What the next frame is written into: the same memory for all sockets, which stays in the processor's cache.
    private var space = ByteBuffer()

    /// Starts the thread.
    ///
    /// - Throws: `PostgresError.unavailable` if the process has no descriptor or thread left.
    init() throws {
        signal = try WakeSignal()
        poller = try Poller()
        guard poller.add(signal.descriptor, token: Self.wakeToken) else {
            throw BenchError("the system refuses to watch the load generator's wake-up")
        }
        try PosixThread.start { self.run() }
    }

    private func run() {
        thread.set(UInt(pthread_self()))
        var ready: [UInt64] = []
        while true {
            ready.removeAll(keepingCapacity: true)
            poller.wait(atMost: milliseconds()) { ready.append($0) }
            for token in ready {
                if token == Self.wakeToken { runTasks() } else { advance(token) }
            }
            fireTimers()
        }
    }

    // MARK: Sockets

    /// Watches a socket that is being connected, and tells it whenever something can be done. On the loop.
    func watch(_ socket: LoadSocket, _ descriptor: CInt) -> Token? {
        preconditionInEventLoop()
        lastSocket += 1
        let token = Token(loop: self, number: lastSocket, descriptor: descriptor)
        guard poller.add(descriptor, token: token.number), token.watchWriting(true) else { return nil }
        sockets[token.number] = socket
        return token
    }

    /// A socket's place on the loop.
    struct Token {
        fileprivate let loop: LoadLoop
        fileprivate let number: UInt64
        let descriptor: CInt

        /// Tells the socket also (or no longer) when it can be written; false if the system refuses it.
        func watchWriting(_ watches: Bool) -> Bool {
            loop.poller.setWatchesWriting(watches, descriptor, token: number)
        }

        /// An empty buffer for one frame. Until it is given back, another socket gets a new one.
        func takeSpace() -> ByteBuffer {
            var space = ByteBuffer()
            swap(&space, &loop.space)
            space.clear()
            return space
        }

        func giveBack(_ space: ByteBuffer) { loop.space = space }

        /// Before the descriptor is closed.
        func leave() {
            loop.poller.remove(descriptor)
            loop.sockets[number] = nil
        }
    }

    private func advance(_ number: UInt64) {
        guard let socket = sockets[number] else { return }
        buffer.withUnsafeMutableBytes { socket.advance($0) }
    }

    // MARK: Tasks and timers

    private func runTasks() {
        signal.drain()
        let due = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        for task in due { task() }
    }

    /// Until the next timer, rounded up so that the wait for one never spins.
    private func milliseconds() -> CInt {
        guard let next = timers.withLock({ $0.waiting.map(\.deadline).min() }) else { return -1 }
        let left = (next - .now()).nanoseconds
        return CInt(clamping: max(0, (left + 999_999) / 1_000_000))
    }

    /// One by one, since each may cancel others.
    private func fireTimers() {
        let now = NIODeadline.now()
        while let timer = timers.withLock({ $0.take(dueAt: now) }) { timer.fire() }
    }
}

extension LoadLoop {
    var inEventLoop: Bool { thread.current == UInt(pthread_self()) }

    func execute(_ task: @escaping @Sendable () -> Void) {
        let isFirst = tasks.withLock { tasks in
            tasks.append(task)
            return tasks.count == 1
        }
        if isFirst { signal.wake() }
    }

    @discardableResult
    func scheduleTask<Value>(
        deadline: NIODeadline, _ task: @escaping @Sendable () throws -> Value
    ) -> Scheduled<Value> {
        let promise = makePromise(of: Value.self)
        let number = timers.withLock { timers in
            timers.last += 1
            timers.waiting.append(
                Timer(number: timers.last, deadline: deadline) {
                    promise.assumeIsolated().completeWith(Result { try task() })
                })
            return timers.last
        }
        if !inEventLoop { signal.wake() }
        return Scheduled(promise: promise) {
            self.timers.withLock { $0.waiting.removeAll { $0.number == number } }
        }
    }

    @discardableResult
    func scheduleTask<Value>(
        in delay: TimeAmount, _ task: @escaping @Sendable () throws -> Value
    ) -> Scheduled<Value> {
        scheduleTask(deadline: .now() + delay, task)
    }

    /// It is never shut down.
    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(EventLoopError.unsupportedOperation) }
    }
}
