import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Notifies systemd (`Type=notify`) that the server serves, lives and stops, by datagrams to the socket that the
/// environment names.
///
/// `READY=1` is sent once, when the server listens, so that units ordered after it find it serving. With
/// `WatchdogSec=`, `WATCHDOG=1` is sent twice in that time, each time after every event loop has answered: systemd
/// restarts a server whose loops hang. A failed datagram is logged and stops nothing.
final class ServiceNotice: Service {
    /// The socket to notify, and the watchdog's pace.
    struct Address: Hashable, Sendable {
        /// The path of the socket in the file system.
        var path: String
        /// Half of the watchdog's time limit; `nil` without a watchdog.
        var aliveEvery: Duration?

        /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; `nil` if there is no socket to notify.
        init?(environment: [String: String], process: Int32) {
            // systemd writes a path; abstract sockets cannot be reached by one.
            guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") else { return nil }
            self.path = path
            let isForUs = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
            guard isForUs, let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text), microseconds > 1
            else { return }
            aliveEvery = .microseconds(microseconds / 2)
        }
    }

    private let address: Address
    private let eventLoops: any EventLoopGroup
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let listening: AsyncStream<Void>
    private let listens: AsyncStream<Void>.Continuation

    init(_ address: Address, eventLoops: any EventLoopGroup, clock: any Clock<Duration>, logger: Logger) {
        self.address = address
        self.eventLoops = eventLoops
        self.clock = clock
        self.logger = logger
        (listening, listens) = AsyncStream.makeStream()
    }

    /// Called when the server accepts clients. Any thread.
    func isListening() { listens.finish() }

    func run() async {
        await cancelWhenGracefulShutdown { await self.tellOfLife() }
        // A cancelled server ends by an error: its exit says so.
        do { try await gracefulShutdown() } catch { return }
        await tell("STOPPING=1")
    }

    private func tellOfLife() async {
        for await _ in listening {}
        guard !Task.isCancelled else { return }
        await tell("READY=1")
        guard let every = address.aliveEvery else { return }
        while !Task.isCancelled, await loopsAnswer() {
            await tell("WATCHDOG=1")
            do { try await clock.sleep(for: every) } catch { return }
        }
    }

    /// Returns once all loops have answered. A loop that hangs blocks it for ever, which is the watchdog's purpose.
    private func loopsAnswer() async -> Bool {
        for loop in eventLoops.makeIterator() {
            do { try await loop.submit {}.get() } catch { return false }
        }
        return true
    }

    /// Sends one datagram through a new socket: the receiver may have been restarted.
    private func tell(_ words: String) async {
        do {
            let channel = try await DatagramBootstrap(group: eventLoops)
                .connect(unixDomainSocketPath: address.path).get()
            do {
                try await channel.writeAndFlush(ByteBuffer(string: words + "\n"))
            } catch {
                // The first error is the one to report.
                try? await channel.close()
                throw error
            }
            try await channel.close()
        } catch {
            logger.warning(
                "The service manager cannot be notified of the server's state",
                metadata: ["socket": "\(address.path)", "words": "\(words)", "reason": "\(error)"])
        }
    }
}
