import NIOCore
import TidemarkEdge
import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

extension HubExecutor {
    /// Does what a session wants done; nothing here waits.
    func carryOut(_ effect: SessionEffect) {
        switch effect {
        case .send(let id, let frame): send(frame, to: id)
        case .close(let id, let code, let reason):
            connections[id]?.socket.close(code: code.rawValue, reason: reason)
        case .awaitRoom(let id): connections[id]?.awaitsRoom = true
        case .verify(let id, let token):
            node.verify(token, of: connections[id]?.socket.remoteAddress?.ipAddress, for: id, replyTo: inbox)
        case .load(let id, let request):
            guard let connection = connections[id] else { return }
            connection.socket.markAuthenticated()
            connection.isNew = request.registers
            if let session = hub.session(id), let revoked = revoked(session, connection) {
                return apply(.tokenRevoked(id, revoked), flushes: false)
            }
            guard node.connectionCounts.enter(id, .init(workspace: request.workspace, user: request.user)) else {
                return connection.socket.close(
                    code: CloseCode.rateLimited.rawValue, reason: "the user has too many connections")
            }
            node.load(request, for: id, replyTo: inbox)
        case .readWindow(let id, let request): node.readWindow(request, for: id, replyTo: inbox)
        case .readPage(let id, let workspace, let request):
            node.readPage(request, in: workspace, for: id, replyTo: inbox)
        case .readHistory(let id, let workspace, let request):
            node.readHistory(request, in: workspace, for: id, replyTo: inbox)
        case .readComparison(let id, let workspace, let comparison):
            node.read(comparison, in: workspace, for: id, replyTo: inbox)
        case .submit(let id, let workspace, let submission):
            submit(submission, in: workspace, for: id)
        case .noteDivergence(let id, let records):
            guard let session = hub.session(id), let identity = session.identity else { return }
            node.note(divergence: Int(clamping: records), of: session.client, identity, on: connections[id]?.socket)
        case .tell(let workspace, let word): node.tell(word, in: workspace, from: inbox)
        }
    }

    /// Keeps a submission until the loop is through with all sockets that are ready, so that the lane is woken once for what
    /// came in by all of them.
    private func submit(_ submission: Submission, in workspace: WorkspaceID, for id: SessionID) {
        if submissions.isEmpty {
            inbox.eventLoop.execute { [inbox] in inbox.executor.value?.handOver() }
        }
        let (pushEnd, begun, metrics) = (submission.pushEnd, ContinuousClock.now, node.metrics)
        let line = pushEnd.flatMap { _ in node.pushLine(of: submission.client, hub.session(id)?.trace) }
        submissions.append(
            GroupCommit.Entry(
                submission, in: workspace,
                completion: node.noting(submission, in: workspace) { [inbox] outcome in
                    if pushEnd != nil { metrics.pushAnswer.record(begun.duration(to: .now)) }
                    line?(outcome, begun.duration(to: .now))
                    inbox.post(.settled(id, outcome, pushEnd: pushEnd))
                }))
    }

    private func handOver() {
        node.commits.submit(submissions, knowing: &lanes)
        submissions.removeAll(keepingCapacity: true)
    }

    private func send(_ frame: Frame, to id: SessionID) {
        guard let connection = connections[id] else { return }
        if let refusal = frame.refusal { node.note(refusal, to: connection.socket, hub.session(id)?.trace) }
        framesSent += 1
        connection.bytes += Int64(frame.bytes.count)
        let bytes: ByteBuffer
        if let framed, framed.frame === frame {
            bytes = framed.bytes
        } else {
            bytes = frameBuffers.text(frame.bytes)
            framed = (frame, bytes)
        }
        connection.socket.write(bytes)
        if !connection.isTouched {
            connection.isTouched = true
            touched.append(connection)
        }
    }

    /// Ends a connection whose token was revoked while it was being checked, or what it starts from was read. What is revoked
    /// later finds the session in the hub.
    func judge(_ id: SessionID) {
        guard let connection = connections[id], let session = hub.session(id),
            let revoked = revoked(session, connection)
        else { return }
        apply(.tokenRevoked(id, revoked), flushes: false)
    }

    private func revoked(_ session: Session, _ connection: Connection) -> RevokedToken? {
        let device = connection.isNew ? DeviceClaim.unnamed : .named(session.client)
        return session.identity.flatMap { node.revocations.judge($0, device) }
    }

    /// Once a client is known to be who it says, an older connection of it ends, on whatever loop it lives.
    func noteWelcome(_ id: SessionID) {
        guard let connection = connections[id], !connection.isWelcomed, let session = hub.session(id),
            session.isStreaming, let workspace = session.identity?.workspace
        else { return }
        connection.isWelcomed = true
        let client = ConnectionCounts.Client(workspace: workspace, client: session.client)
        node.sightings.note(
            client, app: session.app.flatMap { $0.isPlainName ? $0 : nil }, written: session.written,
            position: session.position.seq, now: node.now())
        guard let earlier = node.connectionCounts.welcome(client, at: .init(session: id, inbox: inbox)) else { return }
        earlier.inbox.post(.superseded(earlier.session))
    }
}
