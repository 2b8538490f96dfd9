import TidemarkHub
import TidemarkLock
package import TidemarkModel

/// The connections to this process, over all event loops, and the calls over HTTP. Any thread; used once or twice for a
/// connection or call, never for a delivery.
package final class ConnectionCounts: Sendable {
    /// One device of a workspace.
    package struct Client: Hashable {
        let workspace: WorkspaceID
        let client: ClientID

        package init(workspace: WorkspaceID, client: ClientID) {
            self.workspace = workspace
            self.client = client
        }
    }

    /// The session of a client's connection, and the event loop that holds it.
    struct Place {
        let session: SessionID
        let inbox: HubInbox
    }

    private struct Tables {
        var userOf: [SessionID: Caller] = [:]
        var connections: [Caller: Int] = [:]
        var calls: [Caller: Int] = [:]
        var clientOf: [SessionID: Client] = [:]
        var placeOf: [Client: Place] = [:]
    }

    private let connectionsPerUserMax: Int
    private let callsPerUserMax: Int
    private let tables = Lock(Tables())

    init(connectionsPerUserMax: Int, callsPerUserMax: Int) {
        self.connectionsPerUserMax = connectionsPerUserMax
        self.callsPerUserMax = callsPerUserMax
    }

    /// Connections that have authenticated.
    var count: Int { tables.withLock { $0.userOf.count } }

    /// Calls over HTTP in progress.
    var calls: Int { tables.withLock { $0.calls.values.reduce(0, +) } }

    /// The workspaces that have a connection.
    var workspaces: Set<WorkspaceID> { tables.withLock { Set($0.connections.keys.map(\.workspace)) } }

    /// The clients that are connected.
    var clients: [Client] { tables.withLock { Array($0.placeOf.keys) } }

    /// Returns the session and loop of a client's connection, if it is connected.
    func place(of client: Client) -> Place? { tables.withLock { $0.placeOf[client] } }

    /// Whether a client has a connection to this process.
    package func isConnected(_ client: Client) -> Bool { place(of: client) != nil }

    /// Counts a connection whose token was accepted; false when its user has too many.
    func enter(_ session: SessionID, _ user: Caller) -> Bool {
        tables.withLock { tables in
            guard tables.userOf[session] == nil else { return true }
            let count = tables.connections[user] ?? 0
            guard count < connectionsPerUserMax else { return false }
            tables.connections[user] = count + 1
            tables.userOf[session] = user
            return true
        }
    }

    /// Counts a call whose token was accepted, until `endCall`; false when its user has too many in progress.
    package func beginCall(of user: Caller) -> Bool {
        tables.withLock { tables in
            let count = tables.calls[user] ?? 0
            guard count < callsPerUserMax else { return false }
            tables.calls[user] = count + 1
            return true
        }
    }

    /// Ends the count of a call that `beginCall` counted.
    package func endCall(of user: Caller) {
        tables.withLock { tables in
            let count = tables.calls[user] ?? 0
            tables.calls[user] = count > 1 ? count - 1 : nil
        }
    }

    /// Records that a connection was welcomed as this client; returns the client's earlier connection, which it
    /// replaces.
    func welcome(_ client: Client, at place: Place) -> Place? {
        tables.withLock { tables in
            tables.clientOf[place.session] = client
            let earlier = tables.placeOf.updateValue(place, forKey: client)
            return earlier?.session == place.session ? nil : earlier
        }
    }

    /// Removes a connection that has ended.
    func leave(_ session: SessionID) {
        tables.withLock { tables in
            if let user = tables.userOf.removeValue(forKey: session) {
                let count = tables.connections[user] ?? 0
                tables.connections[user] = count > 1 ? count - 1 : nil
            }
            if let client = tables.clientOf.removeValue(forKey: session),
                tables.placeOf[client]?.session == session
            {
                tables.placeOf[client] = nil
            }
        }
    }
}
