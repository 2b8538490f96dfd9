import Dispatch
import Foundation
import TidemarkCommandLine

/// Standard input, read on demand, off the threads that run tasks. Waiting ends with the task.
final class StandardInput: Sendable {
    static let chunkBytes = 65_536

    private let queue = DispatchQueue(label: "tidemark.chat.input")
    private let waking: Int32
    private let woken: Int32

    /// - Throws: `CommandFailure` when the system has no descriptors left.
    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CommandFailure("no pipe: \(String(cString: strerror(errno)))") }
        (woken, waking) = (ends[0], ends[1])
    }

    deinit {
        close(woken)
        close(waking)
    }

    /// Returns the next bytes; `nil` at the end of the input, or of the task.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [self] in continuation.resume(returning: read()) }
            }
        } onCancel: {
            var byte: UInt8 = 0
            _ = write(waking, &byte, 1)
        }
    }

    private func read() -> [UInt8]? {
        var polled = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: woken, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polled, nfds_t(polled.count), -1) < 0 { guard errno == EINTR else { return nil } }
        guard polled[1].revents == 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: Self.chunkBytes)
        while true {
            let count = Foundation.read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            return count > 0 ? Array(buffer[..<count]) : nil
        }
    }
}
