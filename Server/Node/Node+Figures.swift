import Logging
import NIOCore
import Synchronization
import TidemarkEdge
import TidemarkHub
package import TidemarkModel
import TidemarkSequencer
import TidemarkTelemetry
import TidemarkWire

/// What a node tells of this moment.
package struct NodeFigures: Sendable {
    /// Connections that said who they are.
    package var synced = 0
    /// Calls over HTTP in progress.
    package var calls = 0
    /// Sockets that do not take what they are sent.
    package var slow = 0
    /// Workspaces that it follows.
    package var workspaces = 0
    package var tailAge: Milliseconds = 0
    /// Milliseconds, see ``Node/figures``.
    package var unservedAge: Milliseconds = 0
}

extension Node {
    /// The figures of now. What ages is computed from when it was last known to be well, so that it grows while nothing moves.
    ///
    /// Unserved is a batch from its time to where the last event loop has taken it over; where other nodes commit, also what may
    /// have been committed since this one last looked.
    package var figures: NodeFigures {
        var figures = NodeFigures()
        figures.synced = connectionCounts.count
        figures.calls = connectionCounts.calls
        figures.slow = inboxes.values.reduce(0) { $0 + $1.slow.load(ordering: .relaxed) }
        figures.workspaces = feeds.all.count
        figures.tailAge = tailAge
        let oldest = inboxes.values.compactMap(\.oldest).min()
        figures.unservedAge = max(tailAge, oldest.map { now() - $0 } ?? 0)
        return figures
    }

    /// A connection is told that something was not done.
    func note(_ refusal: ErrorCode, to socket: Socket, _ trace: TraceParent?) {
        metrics.refusals.count(refusal.rawValue)
        guard refusal == .rateLimited else { return }
        parts.telemetry.security.note(
            .rate, refusal.rawValue, peer: socket.remoteAddress?.ipAddress,
            trace.logged)
    }

    /// A device compared its copy, and says that so many records were wrong.
    func note(divergence records: Int, of client: ClientID, _ identity: Identity, on socket: Socket?) {
        metrics.divergence.count(records)
        parts.telemetry.security.note(
            .divergence, "compared", peer: socket?.remoteAddress?.ipAddress,
            [
                "workspace": "\(identity.workspace)", "user": "\(identity.principal.user)", "client": "\(client)",
                "records": "\(records)",
            ])
    }
}

extension Node.Parts {
    /// The environment of its lanes, whose batches are counted.
    var observed: GroupCommit.Environment {
        var observed = environment
        let metrics = telemetry.metrics
        observed.observer.written = { metrics.batchSeconds.record($0) }
        observed.observer.answered = { outcomes, hasBatch in
            var (accepted, all) = (0, 0)
            for case .settled(_, let results) in outcomes {
                all += results.count
                for result in results {
                    guard let rejection = result.rejection else {
                        accepted += 1
                        continue
                    }
                    metrics.transactions.count(rejection.code.rawValue)
                }
            }
            if accepted > 0 { metrics.transactions.count(Metric.accepted, by: accepted) }
            if hasBatch { metrics.batchTransactions.record(all) }
        }
        return observed
    }
}
