import Hummingbird
import TidemarkHub
import TidemarkModel
import TidemarkNode
import TidemarkSequencer
import TidemarkStore
import TidemarkWire

extension API {
    /// Bytes of frames in one answer, after which the client is asked to pull again.
    private static let pullBytesMax = 1_048_576

    /// `POST /v1/pull`: the changes since a cursor; with `wait_ms`, it waits until there are some.
    func pull(_ call: (identity: Identity, body: PullCall)) async throws -> Response {
        let (identity, body) = call
        let device = body.client.map { DeviceClaim.named($0) } ?? .unnamed
        try requireUnrevoked(identity, device)
        // No wait lasts longer than the token is valid.
        let deadline = min(node.now() + body.wait, max(node.now(), identity.acceptedUntil))
        if body.wait > 0 { try await node.follow(identity.workspace) }
        while true {
            let pulled = try await node.readGate.pass(for: identity.workspace) { () async throws -> Pulled in
                try await read(body, identity)
            }
            try requireUnrevoked(identity, device)
            let left = deadline - node.now()
            guard pulled.isQuiet, left > 0, !node.isDraining, polls.enter() else {
                return Response(json: pulled.answer.encode())
            }
            await wait(in: identity.workspace, beyond: pulled.head, milliseconds: left)
            polls.leave()
        }
    }

    private struct Pulled: Sendable {
        var answer: PullAnswer
        var head: SequenceNumber
        /// True when nothing in the answer is new to the client.
        var isQuiet: Bool
    }

    private func read(_ body: PullCall, _ identity: Identity) async throws -> Pulled {
        let (workspace, context) = (identity.workspace, node.context)
        let snapshot = try await node.session(
            for: identity.principal.user, client: body.client, at: context.read(body.cursor, in: workspace)?.proof,
            in: workspace)
        if body.client != nil, snapshot.client?.user != identity.principal.user {
            throw APIError.clientUnknown
        }
        if let client = body.client {
            node.sightings.note(
                .init(workspace: workspace, client: client),
                position: context.place(of: body.cursor, in: workspace)?.seq,
                now: node.now())
        }
        let standing = Standpoint(
            cursor: body.cursor, held: body.scopes, snapshot: snapshot, workspace: workspace, context: context)
        var frames = PullFrames(from: standing, in: workspace, context: context)
        let isWhole = try await fill(&frames, standing, upTo: snapshot.head, in: workspace)
        let isConsistent = isWhole ? try frames.finish(snapshot) : false
        let hasNews =
            snapshot.head.seq > standing.position.seq
            && (frames.rows > 0 || snapshot.results.contains { $0.seq >= standing.position.seq })
        return Pulled(
            answer: PullAnswer(
                cursorState: standing.state, cursor: standing.cursor,
                kept: standing.kept, purged: standing.purged, added: standing.added,
                settledThrough: snapshot.client?.settledThrough ?? 0, frames: frames.frames, hasMore: !isConsistent,
                leftOut: standing.leftOut),
            head: snapshot.head.seq,
            isQuiet: standing.state == .ok && isConsistent && !hasNews && standing.purged.isEmpty
                && standing.added.isEmpty)
    }

    /// Adds windows of the kept scopes up to the snapshot; false when the answer is full before.
    private func fill(
        _ frames: inout PullFrames, _ standing: Standpoint, upTo target: Head, in workspace: WorkspaceID
    ) async throws(StoreError) -> Bool {
        var scopes = standing.kept.map(\.scope)
        guard standing.position.seq < target.seq, !scopes.isEmpty else { return true }
        scopes = try await node.store.changedScopes(among: scopes, after: standing.position.seq, in: workspace)
        guard !scopes.isEmpty else { return true }
        var span: Int64 = 1_024
        while frames.position.seq < target.seq {
            guard frames.bytes < Self.pullBytesMax else { return false }
            let window = try await node.store.window(
                scopes: scopes, after: frames.position.seq, span: min(span, target.seq - frames.position.seq),
                in: workspace)
            guard try frames.add(window) else { return false }
            // The store bounds the bytes of a window, so that the span may grow freely.
            span = min(span * 2, 1 << 20)
        }
        return true
    }

    private func wait(in workspace: WorkspaceID, beyond seq: SequenceNumber, milliseconds: Int64) async {
        let clock = node.parts.environment.clock
        let feed = node.feeds.open(workspace)
        await withTaskGroup { group in
            group.addTask { await feed.moved(beyond: seq) }
            // A cancelled sleep needs no handling.
            group.addTask { try? await clock.sleep(for: .milliseconds(milliseconds)) }
            await group.next()
            group.cancelAll()
        }
    }
}
