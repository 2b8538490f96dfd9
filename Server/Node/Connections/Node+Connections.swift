import NIOCore
import TidemarkEdge
import TidemarkHub
package import TidemarkModel
import TidemarkStore

extension Node {
    /// Returns the connections of this process that a query selects. Even 100,000 connections block no event loop: each
    /// loop looks at a few hundred in one of its turns.
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
    /// The number up to which this process has delivered a workspace's order; `nil` if it does not follow the
    /// workspace.
    package func followed(_ workspace: WorkspaceID) -> SequenceNumber? { feeds[workspace]?.head?.seq }
}

extension HubInbox {
    /// Connections that are looked at in one turn of the loop, which takes some hundred microseconds.
    static let selectedAtOnce = 250

    fileprivate func select(_ query: ConnectionQuery) -> EventLoopFuture<ConnectionSelection> {
        eventLoop.flatSubmit { [eventLoop, executor] in
            let selection = NIOLoopBoundBox(ConnectionSelection(query), eventLoop: eventLoop)
            let ids = executor.value.map { Array($0.connections.keys) } ?? []
            return eventLoop.inTurns(ids, of: Self.selectedAtOnce) { id in
                executor.value?.offer(id, to: &selection.value)
            }.map { selection.value }
        }
    }
}

extension EventLoop {
    /// Calls the body for each element on this loop, some in each turn, so that the loop serves its sockets in between.
    func inTurns<Element: Sendable>(
        _ elements: [Element], of count: Int, _ body: @escaping @Sendable (Element) -> Void
    ) -> EventLoopFuture<Void> {
        let promise = makePromise(of: Void.self)
        next(elements[...], count, body, promise)
        return promise.futureResult
    }

    private func next<Element: Sendable>(
        _ elements: ArraySlice<Element>, _ count: Int, _ body: @escaping @Sendable (Element) -> Void,
        _ promise: EventLoopPromise<Void>
    ) {
        for element in elements.prefix(count) { body(element) }
        let rest = elements.dropFirst(count)
        guard !rest.isEmpty else { return promise.succeed() }
        // Not by `execute`: a loop looks at its sockets only when no immediate task is left.
        scheduleTask(in: .milliseconds(1)) { self.next(rest, count, body, promise) }
            .futureResult.whenFailure { promise.fail($0) }
    }
}

extension HubExecutor {
    func offer(_ id: SessionID, to selection: inout ConnectionSelection) {
        guard let connection = connections[id], let session = hub.session(id) else { return }
        let identity = session.identity
        // Connections that the query excludes cost no row.
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
        row.stuck = session.stuck
        row.diverged = session.diverged
        row.pending = Int64(session.unacknowledgedBytes)
        row.position = session.position.seq
        if session.isStreaming, let tail = hub.tail(of: identity.workspace) {
            row.lag = max(0, tail.seq - session.position.seq)
        }
        return row
    }

    /// Remembers a connection that has ended; called before its session is forgotten.
    func noteClosed(_ socket: Socket) {
        guard let connection = connections[socket.id], let session = hub.session(socket.id) else { return }
        let (row, ending, now) = (row(of: connection, session), socket.ending, node.now())
        if connection.isWelcomed, let workspace = row.workspace, let client = row.client {
            node.sightings.note(.init(workspace: workspace, client: client), position: session.confirmed, now: now)
        }
        node.closedConnections.note { number in
            ClosedConnection(
                row: row, closed: now, code: ending?.code, reason: ending?.reason ?? "the connection was lost",
                isByPeer: ending?.isByPeer ?? true, number: number)
        }
    }
}
