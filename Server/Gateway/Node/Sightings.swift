import Synchronization
import TidemarkModel

/// Which clients were here since that was last written down. Any thread.
///
/// Written at most once a period for each client: it tells only who was not here for long.
final class Sightings: Sendable {
    private struct State {
        /// When each client was last put among the due.
        var noted: [Census.Client: Milliseconds] = [:]
        var due: Set<Census.Client> = []
    }

    /// Clients that are remembered; beyond it all are noted anew.
    private static let clientsMax = 100_000

    private let period: Int64
    private let state = Mutex(State())

    /// - Parameter period: milliseconds.
    init(period: Int64) { self.period = period }

    /// The client is here.
    func note(_ client: Census.Client, now: Milliseconds) {
        state.withLock { state in
            if let noted = state.noted[client], now - noted < period, now >= noted { return }
            if state.noted.count >= Self.clientsMax { state.noted.removeAll(keepingCapacity: true) }
            state.noted[client] = now
            state.due.insert(client)
        }
    }

    /// Hands over what is to be written, by workspace; forgets who was not noted for two periods.
    func take(now: Milliseconds) -> [WorkspaceID: [ClientID]] {
        let due = state.withLock { state in
            state.noted = state.noted.filter { now - $0.value < 2 * period }
            defer { state.due = [] }
            return state.due
        }
        return Dictionary(grouping: due, by: \.workspace).mapValues { $0.map(\.client).sorted() }
    }
}
