import Foundation
package import Logging
import TidemarkLock

/// Writes the log to a file descriptor, and never makes a caller wait for the log's reader.
///
/// Lines wait in bounded memory for a thread, which writes them at once. The thread may block, which is how it waits
/// for a pipe that nobody reads. Other programs may share the pipe's description, so it must not be made non-blocking.
/// Lines that do not fit meanwhile are dropped and counted, and a line reports them when the reader continues.
/// Any thread.
package final class LogWriter: Sendable {
    /// The bytes that may wait to be written: some thousand lines. At most so much is lost if the process is killed
    /// while nobody reads; otherwise only what the thread is writing.
    package static let waitingBytesMax = 256 * 1_024

    private let descriptor: Int32
    private let queue: Lock<LineQueue>
    private let thread = DispatchQueue(label: "tidemark.log")

    /// - Parameter descriptor: that of standard error, or another one; it must stay open as long as this object.
    package init(descriptor: Int32 = STDERR_FILENO, waitingBytesMax: Int = LogWriter.waitingBytesMax) {
        self.descriptor = descriptor
        queue = Lock(LineQueue(bytesMax: waitingBytesMax))
    }

    /// Returns a handler for loggers that writes here.
    package func handler(label: String) -> StreamLogHandler {
        StreamLogHandler(label: label, stream: Lines(writer: self))
    }

    /// Adds a line, with its end. Does not wait.
    package func take(_ line: String) {
        let begins = queue.withLock { $0.add(Array(line.utf8)) }
        if begins { thread.async { self.writeAll() } }
    }

    /// The number of lines that were dropped so far.
    package var dropped: Int { queue.withLock { $0.dropped } }

    /// Waits until all lines are written, but no longer than `limit`: a server that stops must not need a reader.
    package func flush(within limit: Duration, clock: some Clock<Duration> = ContinuousClock()) async {
        let end = clock.now.advanced(by: limit)
        while !queue.withLock({ $0.isEmpty }), clock.now < end {
            do { try await clock.sleep(for: .milliseconds(5)) } catch { return }
        }
    }

    private func writeAll() {
        while let lines = queue.withLock({ $0.next() }) {
            if !written(lines) { queue.withLock { $0.lose() } }
        }
    }

    /// Writes the bytes; `false` if that is impossible, such as into a pipe whose other end is closed.
    private func written(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Another program has made the description non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, nfds_t(1), -1)
            default: return false
            }
        }
        return true
    }
}

/// The stream that a handler of the logging API writes to.
private struct Lines: TextOutputStream, Sendable {
    let writer: LogWriter

    mutating func write(_ string: String) { writer.take(string) }
}
