import TidemarkLock
import TidemarkModel

/// A connection over a socket that calls back. It reads ahead as far as the machine allows, so that waiting messages
/// are applied together, and gives up a server that has gone silent.
final class SocketConnection: TransportConnection {
    private typealias Waiter = CheckedContinuation<[[UInt8]], any Error>

    private struct State {
        var machine: SocketMachine<Waiter>
        var lastReceive: UInt64 = 0
    }

    private let socket: any MessageSocket
    private let clock: any Clock<Duration>
    private let uptime: Uptime
    private let state: Lock<State>
    private let alarm = Lock<Task<Void, Never>?>(nil)

    init(
        _ socket: any MessageSocket, limits: SocketLimits = SocketLimits(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.socket = socket
        self.clock = clock
        let uptime = Uptime(clock)
        self.uptime = uptime
        let machine = SocketMachine<Waiter>(
            messagesMax: limits.waitingMessagesMax, bytesMax: limits.waitingBytesMax, timing: limits.timing,
            now: .milliseconds(uptime.now))
        state = Lock(State(machine: machine))
        setAlarm()
        readOn()
    }

    deinit {
        alarm.withLock { $0 }?.cancel()
        socket.cancel(code: SocketLimits.leaving)
    }

    func send(_ message: [UInt8]) async throws { try await socket.send(message) }

    func receive() async throws -> [UInt8] {
        guard let message = try await take(atMost: 1).first else { throw AlreadyReceiving() }
        return message
    }

    func receiveWaiting() async throws -> [[UInt8]] { try await take(atMost: .max) }

    func close(code: UInt16) async {
        finish(TransportClosed(code: code, reason: ""))
        socket.cancel(code: code)
    }

    // MARK: Reading

    private var now: Duration { .milliseconds(uptime.now) }

    /// Reads one message at a time: the end of a read begins the next one, or leaves that to the call that makes room.
    private func readOn() {
        // The alarm is set to another time once nothing is read.
        guard state.withLock({ $0.machine.mayRead(now: now) }) else { return setAlarm() }
        socket.receive { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let message):
                let waiter = state.withLock { $0.machine.arrived(message, now: now) }
                waiter?.resume(returning: [message])
                readOn()
            case .failure(let error): finish(error)
            }
        }
    }

    private func take(atMost most: Int) async throws -> [[UInt8]] {
        let id = state.withLock { state in
            state.lastReceive += 1
            return state.lastReceive
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (delivery, isToRead) = state.withLock { state in
                    (state.machine.take(id, atMost: most, continuation), state.machine.resume(now: now))
                }
                switch delivery {
                case nil: break
                case .messages(let messages)?: continuation.resume(returning: messages)
                case .failure(let error)?: continuation.resume(throwing: error)
                }
                if isToRead { readOn() }
                // Cancelled before there was a waiter to be found.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: UInt64) {
        state.withLock { $0.machine.cancel(id) }?.resume(throwing: CancellationError())
    }

    private func finish(_ error: any Error) {
        state.withLock { $0.machine.end(error) }?.resume(throwing: error)
        alarm.withLock { $0 }?.cancel()
    }

    // MARK: Silence

    private func setAlarm() {
        guard !state.withLock({ $0.machine.isOver }) else { return }
        // Ends with the connection, which it retains only during a look.
        let task = Task { [weak self, clock] in
            while let wait = self?.wait {
                do { try await clock.sleep(for: wait) } catch { return }
                guard let self, look() else { return }
            }
        }
        alarm.withLock { alarm in
            alarm?.cancel()
            alarm = task
        }
    }

    private var wait: Duration { state.withLock { max(.zero, $0.machine.due - now) } }

    /// Returns false when the connection was given up.
    private func look() -> Bool {
        switch state.withLock({ $0.machine.look(now: now) }) {
        case .nothing: return true
        case .ask, .showLife:
            socket.ping { [weak self] isAnswered in
                guard let self, isAnswered else { return }
                state.withLock { $0.machine.heard(now: now) }
                // The next ping is due sooner than the end of this one's time.
                setAlarm()
            }
            return true
        case .silent:
            finish(SyncFailure(.serverSilent, "the server sent nothing, and did not answer a ping"))
            socket.cancel(code: SocketLimits.leaving)
            return false
        }
    }
}

/// The bounds and times of such a connection.
struct SocketLimits: Sendable {
    /// The number of messages that may wait for the app; beyond it nothing is read.
    var waitingMessagesMax = 128
    /// The size of the waiting messages in bytes.
    var waitingBytesMax = 4 * 1_048_576
    /// The system answers the server's own pings without reporting them.
    var timing = SilenceWatch.Timing(
        pingAfter: .seconds(25), silenceMax: .seconds(60), signOfLifeEvery: .seconds(20))

    /// The close code of a connection that is not needed any more.
    static let leaving: UInt16 = 1001
}
