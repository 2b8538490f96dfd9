import Synchronization
package import TidemarkModel

/// Which clients were here since that was last written down, and by which app. Any thread.
///
/// Written at most once a period for each client: it tells only who was not here for long.
package final class Sightings: Sendable {
    private struct Sighting {
        /// When the client was last put among the due.
        var at: Milliseconds
        /// Not yet handed over.
        var isDue = true
        /// As the client last called it.
        var app: String?
    }

    /// A client that was here.
    struct Seen: Hashable {
        var client: ClientID
        var app: String?
    }

    /// With so many, those that are handed over are forgotten, and noted anew.
    private static let clientsMax = 100_000

    private let period: Int64
    private let clients = Mutex([ConnectionCounts.Client: Sighting]())

    /// - Parameter period: milliseconds.
    init(period: Int64) { self.period = period }

    /// The client is here. One with another app than before is handed over at once.
    package func note(_ client: ConnectionCounts.Client, app: String? = nil, now: Milliseconds) {
        clients.withLock { clients in
            let noted = clients[client]
            let isKnown = app == nil || app == noted?.app
            if let noted, isKnown, now - noted.at < period, now >= noted.at { return }
            if noted == nil, clients.count % Self.clientsMax == Self.clientsMax - 1 {
                clients = clients.filter { $0.value.isDue }
            }
            clients[client] = Sighting(at: now, app: app ?? noted?.app)
        }
    }

    /// Hands over what is to be written, by workspace; forgets who was not noted for two periods.
    func take(now: Milliseconds) -> [WorkspaceID: [Seen]] {
        let due = clients.withLock { clients in
            let due = clients.filter { $0.value.isDue }
            clients = clients.filter { now - $0.value.at < 2 * period }.mapValues {
                Sighting(at: $0.at, isDue: false, app: $0.app)
            }
            return due
        }
        return Dictionary(grouping: due, by: \.key.workspace).mapValues { seen in
            seen.map { Seen(client: $0.key.client, app: $0.value.app) }.sorted { $0.client < $1.client }
        }
    }
}
