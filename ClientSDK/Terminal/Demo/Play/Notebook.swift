import TidemarkLock
import TidemarkModel

/// What the demo remembers of the messages that it wrote, and how soon they were seen elsewhere.
final class Notebook: Sendable {
    /// A message at the moment of its writing.
    struct Entry: Sendable {
        let message: WrittenMessage
        let written: ContinuousClock.Instant
        /// A bit for each device that was live.
        let live: UInt64
        /// The disturbances until then.
        let disturbances: Int
    }

    private struct State {
        var entries: [LocalID: Entry] = [:]
        var inOrder: [WrittenMessage] = []
        var disturbances = 0
        var latencies = LatencyLog()
    }

    private let state = Lock(State())

    /// Something happened to a server or to a device's network: what is on its way now says nothing of the usual time.
    func disturb() { state.withLock { $0.disturbances += 1 } }

    /// Notes a message; call it right before it is written.
    func note(_ message: WrittenMessage, live: UInt64) {
        state.withLock { state in
            state.entries[message.id] = Entry(
                message: message, written: .now, live: live, disturbances: state.disturbances)
            state.inOrder.append(message)
        }
    }

    /// A device sees messages for the first time.
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
