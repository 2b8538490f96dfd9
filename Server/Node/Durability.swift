import Logging
import TidemarkLock
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// Up to which number an order counts as safe from going back: devices keep what they wrote later, and offer it again if the
/// database does (R-26, LINEAGE.md). By the rule that whoever runs the server sets. Any thread.
final class Durability: Sendable {
    private struct Known {
        var epoch: Epoch
        var through: SequenceNumber
        var found: Milliseconds
    }

    private let parts: Node.Parts
    private let rule: DurableRule
    private let known = Lock<[WorkspaceID: Known]>([:])
    private let samples = Lock(ReplicaSamples())
    /// Fewer standbys than asked for, as far as is known.
    private let isShort = Lock(false)
    /// Milliseconds for which an answer is good: it only grows.
    private static let lifetime: Int64 = 60_000
    private static let workspacesMax = 10_000

    init(_ parts: Node.Parts) {
        self.parts = parts
        rule = parts.limits.durable
    }

    /// How often to look.
    var period: Duration {
        switch rule {
        case .age, .backup: parts.limits.durableEvery
        case .replicas: parts.limits.standbysEvery
        }
    }

    /// Asks how far the standbys are, where the rule goes by them: one round trip for all workspaces.
    func look(at workspaces: [WorkspaceID]) async throws(StoreError) {
        guard case .replicas(let count) = rule, let log = parts.replicas, !workspaces.isEmpty else { return }
        let report = try await log.replicas(confirming: count, heads: workspaces)
        samples.withLock { $0.take(report) }
        let hasChanged = isShort.withLock { isShort in
            defer { isShort = report.confirmed == nil }
            return isShort != (report.confirmed == nil)
        }
        guard hasChanged else { return }
        let logger = parts.environment.logger
        if report.confirmed == nil {
            logger.warning(
                "Fewer standbys than wanted: devices keep all that they write", metadata: ["wanted": "\(count)"])
        } else {
            logger.notice("There are as many standbys as wanted", metadata: ["wanted": "\(count)"])
        }
    }

    /// The last number that is safe, as of a snapshot; 0 where none is. By standbys it is what the last look found; else a few
    /// dozen reads of one row, at most once a minute.
    func through(
        _ head: Head, after horizon: SequenceNumber, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber {
        if case .replicas = rule { return samples.withLock { $0.through(head, in: workspace) } }
        let before = known.withLock { $0[workspace] }
        // Of another epoch nothing is known: its numbers may be others'.
        let last = before.flatMap { $0.epoch == head.epoch && $0.through <= head.seq ? $0 : nil }
        if let last, now - last.found < Self.lifetime { return last.through }
        let found =
            switch rule {
            case .age(let age):
                try await old(head, after: max(horizon, last?.through ?? 0), in: workspace, now: now, age: age)
            case .backup: try await backedUp(head, in: workspace)
            case .replicas: nil as SequenceNumber?
            }
        let through = found ?? last?.through ?? 0
        known.withLock { known in
            if known.count >= Self.workspacesMax { known = [:] }
            known[workspace] = Known(epoch: head.epoch, through: through, found: now)
        }
        return through
    }

    private func old(
        _ head: Head, after horizon: SequenceNumber, in workspace: WorkspaceID, now: Milliseconds, age: Duration
    ) async throws(StoreError) -> SequenceNumber? {
        var search = HorizonSearch(olderThan: now - age.milliseconds, after: horizon, head: head)
        while let probe = search.probe { search.take(try await parts.store.batch(holding: probe, in: workspace)) }
        return search.found?.seq
    }

    /// A backup may be of a history that was lost: what is written down of it stands beside the database.
    private func backedUp(_ head: Head, in workspace: WorkspaceID) async throws(StoreError) -> SequenceNumber? {
        guard let backup = try await parts.backups?.verifiedBackup(of: workspace)?.head, backup.seq > 0,
            backup.seq <= head.seq,
            backup.isOfHistory(holding: try await parts.store.batch(holding: backup.seq, in: workspace))
        else { return nil }
        return backup.seq
    }
}
