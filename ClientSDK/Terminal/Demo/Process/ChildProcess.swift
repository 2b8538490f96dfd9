import Foundation
import TidemarkAssembly
import TidemarkLock

/// A program that this one started. It ends at the latest with this process: see ``endAll()``.
///
/// Foundation's own class puts children into a process group of their own, so that Ctrl-C would not end them, and waits
/// for them with a run loop.
final class ChildProcess: Sendable {
    private enum State: Sendable {
        case running
        case ended(status: Int32)
    }

    let processID: pid_t
    /// The lines of standard output and standard error together, the newest ten thousand; one task may read them.
    let lines: AsyncStream<String>
    private let ending: AsyncStream<Never>
    private let state = Lock(State.running)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the arguments, without the program's name.
    ///   - environment: variables in addition to this process's own.
    /// - Throws: `ChildProcessError` when it cannot be started.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var descriptors: [Int32] = [0, 0]
        guard pipe(&descriptors) == 0 else { throw ChildProcessError(program, errno) }
        let (reading, writing) = (descriptors[0], descriptors[1])
        // Children that are started later must not hold this pipe open.
        _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
        _ = fcntl(writing, F_SETFD, FD_CLOEXEC)
        defer { close(writing) }
        do {
            processID = try ChildStart.spawn(program, arguments, environment, output: writing, errors: writing)
                .mapError { ChildProcessError(program, $0.code.rawValue) }.get()
        } catch {
            close(reading)
            throw error
        }
        let (lines, sink) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(10_000))
        self.lines = lines
        let (ending, end) = AsyncStream.makeStream(of: Never.self)
        self.ending = ending
        Self.living.withLock { _ = $0.insert(processID) }
        // A blocking read needs a thread of its own, not one of the few that run tasks.
        let thread = Thread { [self] in
            Self.readLines(reading, into: sink)
            close(reading)
            reap()
            sink.finish()
            end.finish()
        }
        thread.start()
    }

    /// Sends a signal; does nothing when the process has ended.
    func signal(_ number: Int32) {
        state.withLock { state in
            // The id is ours until `waitpid`, which is called under this lock.
            if case .running = state { kill(processID, number) }
        }
    }

    /// Waits for the end and returns the exit status; for a signal, 128 + its number. One task may wait.
    func ended() async -> Int32 {
        for await _ in ending {}
        return state.withLock { state in
            if case .ended(let status) = state { status } else { -1 }
        }
    }

    var isRunning: Bool {
        state.withLock { state in
            if case .running = state { true } else { false }
        }
    }

    private func reap() {
        var raw: Int32 = 0
        // The output is closed, so the end is near. This waits without the lock, so that `signal` can still be used.
        var information = siginfo_t()
        while waitid(P_PID, id_t(processID), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        state.withLock { state in
            while waitpid(processID, &raw, 0) < 0, errno == EINTR {}
            state = .ended(status: raw & 0x7f == 0 ? (raw >> 8) & 0xff : 128 + (raw & 0x7f))
        }
        Self.living.withLock { _ = $0.remove(processID) }
    }

    private static func readLines(_ descriptor: Int32, into sink: AsyncStream<String>.Continuation) {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    sink.yield(String(decoding: line, as: UTF8.self))
                    line.removeAll(keepingCapacity: true)
                } else if line.count < 16_384 {
                    line.append(byte)
                }
            }
        }
        if !line.isEmpty { sink.yield(String(decoding: line, as: UTF8.self)) }
    }

    // MARK: At the end of this process

    private static let living = Lock<Set<pid_t>>([])

    /// Kills every child that still runs: for the time when this process has to stop.
    static func endAll() {
        living.withLock { for processID in $0 { kill(processID, SIGKILL) } }
    }
}

/// The error of a program that could not be started.
struct ChildProcessError: Error, CustomStringConvertible {
    let description: String

    init(_ program: String, _ code: Int32) {
        description = "cannot start \(program): \(String(cString: strerror(code)))"
    }
}
