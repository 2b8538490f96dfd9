import Foundation
import Testing
import TidemarkLock

@testable import TidemarkPostgres

@Suite(.timeLimit(.minutes(2))) struct WakeSignalTests {
    private static let past = ContinuousClock.now - .seconds(1)

    @Test func `a wake-up before the wait is not lost, and many of them are one`() throws {
        let signal = try WakeSignal()
        #expect(signal.wait(until: Self.past) == .timedOut)
        // More than a pipe holds.
        for _ in 0..<200_000 { signal.wake() }
        #expect(signal.wait(until: nil) == .woken)
        #expect(signal.wait(until: Self.past) == .timedOut)
        signal.wake()
        #expect(signal.wait(until: nil) == .woken)
    }

    @Test func `a stop ends this wait and all that follow`() throws {
        let signal = try WakeSignal()
        signal.stop()
        for _ in 0..<3 { #expect(signal.wait(until: nil) == .stopped) }
        #expect(signal.isStopped)
    }

    @Test func `a ready socket is reported before a wake-up, which the next wait reports`() throws {
        let (signal, other) = (try WakeSignal(), try WakeSignal())
        other.wake()
        signal.wake()
        #expect(signal.wait(for: other.descriptor, until: nil) == .ready)
        other.drain()
        #expect(signal.wait(for: other.descriptor, until: nil) == .woken)
        #expect(signal.wait(for: other.descriptor, until: Self.past) == .timedOut)
        // The end for writing is ready for writing only.
        #expect(signal.wait(for: other.writing, .writing, until: nil) == .ready)
        // A number without a file is an error of the socket.
        #expect(signal.wait(for: .max, until: nil) == .ready)
    }

    @Test func `both ends refuse to wait, and no child inherits them`() throws {
        let signal = try WakeSignal()
        for end in [signal.descriptor, signal.writing] {
            #expect(fcntl(end, F_GETFD, 0) & FD_CLOEXEC != 0)
            #expect(fcntl(end, F_GETFL, 0) & O_NONBLOCK != 0)
        }
    }

    @Test func `no post of four threads is lost if only the first in an empty inbox wakes`() async throws {
        let each = 20_000
        let signal = try WakeSignal()
        let inbox = Lock<[Int]>([])
        for thread in 0..<4 {
            try PosixThread.start {
                for number in 0..<each {
                    let isFirst = inbox.withLock { inbox in
                        inbox.append(thread * each + number)
                        return inbox.count == 1
                    }
                    if isFirst { signal.wake() }
                }
            }
        }
        let taken = try await PosixThread.run {
            var taken: [Int] = []
            var poller = Poller()
            poller.add(signal.descriptor, token: 1)
            while taken.count < 4 * each {
                // A lost wake-up leaves it here until the test's time is up.
                poller.wait(atMost: -1) { _ in }
                signal.drain()
                taken += inbox.exchange([])
            }
            return .success(taken)
        }
        #expect(taken.sorted() == Array(0..<(4 * each)))
        #expect(signal.wait(until: Self.past) == .timedOut)
    }

    @Test func `a signal of the system that interrupts a wait ends none`() async throws {
        // With a handler the signal interrupts system calls, which the system otherwise repeats.
        Foundation.signal(SIGUSR2) { _ in }
        let (waker, started) = (try WakeSignal(), try WakeSignal())
        let thread = Lock<UInt>(0)
        let rounds = 200
        let ends = Lock<[Bool]>([])
        try PosixThread.start {
            thread.set(Self.current)
            started.wake()
            for _ in 0..<rounds {
                let end = waker.wait(until: nil)
                ends.withLock { $0.append(end == .woken) }
                started.wake()
            }
        }
        try await PosixThread.run {
            _ = started.wait(until: nil)
            for _ in 0..<rounds {
                for _ in 0..<20 { Self.interrupt(thread.current) }
                waker.wake()
                _ = started.wait(until: nil)
            }
            return .success(())
        }
        #expect(ends.current == Array(repeating: true, count: rounds))
    }

    /// The calling thread, as a number.
    private static var current: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }

    private static func interrupt(_ thread: UInt) {
        #if canImport(Darwin)
        guard let thread = pthread_t(bitPattern: thread) else { return }
        pthread_kill(thread, SIGUSR2)
        #else
        pthread_kill(thread, SIGUSR2)
        #endif
    }
}
