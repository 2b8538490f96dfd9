import NIOCore
import TidemarkEdge
import TidemarkHub
package import TidemarkModel
import TidemarkStore

extension Node {
    /// The connections of this process that a query asks for. Of 100,000 no loop is held up: each looks at some hundred in one
    /// of its turns.
    package func connections(_ query: ConnectionQuery) async -> ConnectionSelection {
        var all = ConnectionSelection(query)
        await listingGate.pass {
            for inbox in inboxes.values.sorted(by: { $0.number < $1.number }) {
                // A loop that has stopped has no connections.
                guard let some = try? await inbox.select(query).get() else { continue }
                all.take(some)
            }
        }
        return all
    }
}

extension Node {
    /// The number up to which this process has given out a workspace's order; `nil` where it does not follow it.
    package func followed(_ workspace: WorkspaceID) -> SequenceNumber? { feeds[workspace]?.head?.seq }
}

extension HubInbox {
    /// Connections that are looked at in one turn of the loop: some hundred microseconds.
    static let selectedAtOnce = 250

    fileprivate func select(_ query: ConnectionQuery) -> EventLoopFuture<ConnectionSelection> {
        let promise = eventLoop.makePromise(of: ConnectionSelection.self)
        eventLoop.execute { [executor] in
            let ids = executor.value.map { Array($0.connections.keys) } ?? []
            self.select(ids[...], ConnectionSelection(query), promise)
        }
        return promise.futureResult
    }

    private func select(
        _ ids: ArraySlice<SessionID>, _ selection: ConnectionSelection, _ promise: EventLoopPromise<ConnectionSelection>
    ) {
        var selection = selection
        for id in ids.prefix(Self.selectedAtOnce) { executor.value?.offer(id, to: &selection) }
        let (rest, chosen) = (ids.dropFirst(Self.selectedAtOnce), selection)
        guard !rest.isEmpty else { return promise.succeed(chosen) }
        // Not at once: a loop looks at its sockets only when nothing is left to be run.
        eventLoop.scheduleTask(in: .milliseconds(1)) { self.select(rest, chosen, promise) }
            .futureResult.whenFailure { _ in promise.succeed(chosen) }
    }
}

extension HubExecutor {
    func offer(_ id: SessionID, to selection: inout ConnectionSelection) {
        guard let connection = connections[id], let session = hub.session(id) else { return }
        let identity = session.identity
        // What is not asked for costs no row.
        guard
            selection.query.matches(
                workspace: identity?.workspace, user: identity?.principal.user,
                client: identity == nil ? nil : session.client)
        else { return }
        selection.offer(row(of: connection, session))
    }

    private func row(of connection: Connection, _ session: Session) -> ConnectionRow {
        var row = ConnectionRow(id: session.id, since: connection.since, heard: connection.heard)
        row.address = connection.socket.remoteAddress?.ipAddress
        row.bytes = connection.bytes
        row.isSlow = connection.isSlow
        guard let identity = session.identity else { return row }
        row.workspace = identity.workspace
        row.user = identity.principal.user
        row.client = session.client
        row.app = session.app
        row.pending = Int64(session.unacknowledgedBytes)
        row.position = session.position.seq
        if session.isStreaming, let tail = hub.tail(of: identity.workspace) {
            row.lag = max(0, tail.seq - session.position.seq)
        }
        return row
    }

    /// Remembers a connection that is over; before its session is forgotten.
    func noteClosed(_ socket: Socket) {
        guard let connection = connections[socket.id], let session = hub.session(socket.id) else { return }
        let (row, ending, now) = (row(of: connection, session), socket.ending, node.now())
        node.closedConnections.note { number in
            ClosedConnection(
                row: row, closed: now, code: ending?.code, reason: ending?.reason ?? "the connection was lost",
                isByPeer: ending?.isByPeer ?? true, number: number)
        }
    }
}
