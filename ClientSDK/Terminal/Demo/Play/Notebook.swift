import TidemarkLock
import TidemarkModel

/// The demo's record of its written messages, and of their latencies elsewhere.
final class Notebook: Sendable {
    /// A message at the time of its writing.
    struct Entry: Sendable {
        let message: WrittenMessage
        let written: ContinuousClock.Instant
        /// A bit for each device that was live.
        let live: UInt64
        /// The number of disturbances until then.
        let disturbances: Int
    }

    private struct State {
        var entries: [LocalID: Entry] = [:]
        var inOrder: [WrittenMessage] = []
        var disturbances = 0
        var latencies = LatencyLog()
    }

    private let state = Lock(State())

    /// Notes a change of a server or a device's network: the latencies of present messages are then not typical.
    func disturb() { state.withLock { $0.disturbances += 1 } }

    /// Notes a message; call it directly before it is written.
    func note(_ message: WrittenMessage, live: UInt64) {
        state.withLock { state in
            state.entries[message.id] = Entry(
                message: message, written: .now, live: live, disturbances: state.disturbances)
            state.inOrder.append(message)
        }
    }

    /// Notes messages that a device sees for the first time.
    func seen(_ ids: some Sequence<LocalID>, by device: DemoDevice) {
        let now = ContinuousClock.now
        state.withLock { state in
            for id in ids {
                guard let entry = state.entries[id], entry.message.author != device.user,
                    entry.disturbances == state.disturbances, entry.live >> UInt64(device.index) & 1 == 1
                else { continue }
                let time = (now - entry.written).components
                state.latencies.record(
                    nanoseconds: UInt64(time.seconds) * 1_000_000_000 + UInt64(time.attoseconds / 1_000_000_000))
            }
        }
    }

    var written: [WrittenMessage] { state.withLock { $0.inOrder } }
    var count: Int { state.withLock { $0.inOrder.count } }
    var latencies: LatencyLog { state.withLock { $0.latencies } }
}
