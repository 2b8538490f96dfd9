import Foundation
import TidemarkLock

/// The messages that were on the screen and are not yet marked as read; for each conversation, the last one.
final class SeenMarks: Sendable {
    private let marks = Lock<[UUID: Int64]>([:])
    private let signal = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func note(_ number: Int64, in conversation: UUID) {
        marks.withLock { $0[conversation] = max($0[conversation] ?? 0, number) }
        signal.continuation.yield()
    }

    /// Fires when something was noted; notes before the listener reacts are one signal. For one listener.
    var signals: AsyncStream<Void> { signal.stream }

    /// Returns everything noted since the last call.
    func take() -> [UUID: Int64] {
        marks.withLock { marks in
            defer { marks = [:] }
            return marks
        }
    }
}
