import TidemarkLock
package import TidemarkModel
package import TidemarkStore

/// The clients that were seen since that was last recorded, and what is known of them. Any thread.
///
/// A client is recorded at most once a period, except with another app. The record shows which clients have not
/// connected for long, and what a device last reported.
package final class Sightings: Sendable {
    private struct Sighting {
        var last: SeenClient
        /// The time at which the client was last made due.
        var at: Milliseconds
        /// True until the sighting is handed over, which happens at the next time.
        var isDue = true
        /// True when what is known of the client has changed since it was handed over.
        var hasNews = false
    }

    /// The number of clients at which those that are handed over are forgotten, to be noted anew.
    package static let clientsUsualMax = 100_000

    private let period: Int64
    private let clientsMax: Int
    private let clients = Lock([ConnectionCounts.Client: Sighting]())

    /// - Parameter period: milliseconds.
    init(period: Int64, clientsMax: Int = clientsUsualMax) {
        self.period = period
        self.clientsMax = max(1, clientsMax)
    }

    /// Notes that the client was seen. If its app has changed, it is handed over at once.
    package func note(
        _ client: ConnectionCounts.Client, app: String? = nil, written: Int64? = nil, position: SequenceNumber? = nil,
        now: Milliseconds
    ) {
        let sighting = SeenClient(client.client, at: now, app: app, written: written, position: position)
        clients.withLock { clients in
            guard var noted = clients[client] else {
                if clients.count % clientsMax == clientsMax - 1 {
                    clients = clients.filter { $0.value.isDue || $0.value.hasNews }
                    // A sighting that is kept only for its news is handed over at the next time.
                    for client in clients.keys { clients[client]?.isDue = true }
                }
                clients[client] = Sighting(last: sighting, at: now)
                return
            }
            let before = noted.last
            noted.last.merge(sighting)
            if noted.last.written != before.written || noted.last.position != before.position { noted.hasNews = true }
            if noted.last.app != before.app || now - noted.at >= period || now < noted.at {
                (noted.at, noted.isDue) = (now, true)
            }
            clients[client] = noted
        }
    }

    /// Returns the latest note of a client; `nil` if it has not been seen for long.
    package func latest(_ client: ConnectionCounts.Client) -> SeenClient? {
        clients.withLock { $0[client]?.last }
    }

    /// Returns the sightings to record, by workspace; forgets clients that were not noted for two periods.
    func take(now: Milliseconds) -> [WorkspaceID: [SeenClient]] {
        let due = clients.withLock { clients in
            let due = clients.filter { $0.value.isDue || ($0.value.hasNews && now - $0.value.at >= period) }
            let isFull = clients.count >= clientsMax
            clients = clients.filter { client, sighting in
                guard due[client] != nil else { return now - sighting.last.time < 2 * period || sighting.hasNews }
                return !isFull && now - sighting.last.time < 2 * period
            }
            for (client, sighting) in due where clients[client] != nil {
                if !sighting.isDue { clients[client]?.at = now }
                clients[client]?.isDue = false
                clients[client]?.hasNews = false
            }
            return due
        }
        return Dictionary(grouping: due, by: { $0.key.workspace }).mapValues { seen in
            seen.map { $0.value.last }.sorted { $0.client < $1.client }
        }
    }
}
