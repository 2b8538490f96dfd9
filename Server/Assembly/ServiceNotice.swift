import Foundation
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Tells whoever started the server that it serves, that it lives, and that it stops: systemd with `Type=notify`, by datagrams to the
/// socket that the environment names.
///
/// `READY=1` goes out once, when the server listens, so that what comes after it in the order of units finds it serving. With
/// `WatchdogSec=`, `WATCHDOG=1` goes out twice in that time, each time after every event loop has answered: a server whose loops
/// hang is started again. What cannot be sent is told in the log and stops nothing.
final class ServiceNotice: Service {
    /// Where to tell it.
    struct Address: Hashable, Sendable {
        /// Of a socket in the file system.
        var path: String
        /// Half of what the watchdog waits for; `nil` where there is none.
        var aliveEvery: Duration?

        /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`; `nil` where nobody wants to be told.
        init?(environment: [String: String], process: Int32) {
            // systemd writes a path; the names of sockets that are in no file system are not ours to reach.
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

    /// The server takes clients. Any thread.
    func isListening() { listens.finish() }

    func run() async {
        await cancelWhenGracefulShutdown { await self.tellOfLife() }
        // Cancelled is a server that ends by an error: that is told by how it ends.
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

    /// Returns once all have answered; a loop that hangs holds it for ever, which is what the watchdog is for.
    private func loopsAnswer() async -> Bool {
        for loop in eventLoops.makeIterator() {
            do { try await loop.submit {}.get() } catch { return false }
        }
        return true
    }

    /// Sends one datagram. A new socket each time: whoever listens there may have been started again.
    private func tell(_ words: String) async {
        do {
            let channel = try await DatagramBootstrap(group: eventLoops)
                .connect(unixDomainSocketPath: address.path).get()
            do {
                try await channel.writeAndFlush(ByteBuffer(string: words + "\n"))
            } catch {
                // The first error is the one to tell.
                try? await channel.close()
                throw error
            }
            try await channel.close()
        } catch {
            logger.warning(
                "The service manager cannot be told that the server serves, or stops",
                metadata: ["socket": "\(address.path)", "words": "\(words)", "reason": "\(error)"])
        }
    }
}
