import Logging
import TidemarkLock
import TidemarkModel
import TidemarkSequencer
import TidemarkStore

/// The number up to which an order is safe from going back, by the operator's rule. Devices keep what they wrote after
/// it, and offer it again if the database goes back (R-26, LINEAGE.md). Any thread.
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
    /// True when fewer standbys than required have confirmed, as of the last look.
    private let isShort = Lock(false)
    /// Milliseconds for which an answer is valid: the number only grows.
    private static let lifetime: Int64 = 60_000
    private static let workspacesMax = 10_000

    init(_ parts: Node.Parts) {
        self.parts = parts
        rule = parts.limits.durable
    }

    /// The interval of looks.
    var period: Duration {
        switch rule {
        case .age, .backup: parts.limits.durableEvery
        case .replicas: parts.limits.standbysEvery
        }
    }

    /// Asks how far the standbys are if the rule depends on them: one round trip for all workspaces.
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
                "Fewer standbys confirm than wanted: devices keep all their writes", metadata: ["wanted": "\(count)"])
        } else {
            logger.notice("As many standbys confirm as wanted", metadata: ["wanted": "\(count)"])
        }
    }

    /// Returns the last number that is safe, as of a snapshot; 0 if none is. By standbys it is the result of the last
    /// look; by another rule it costs a few dozen reads of one row, at most once a minute.
    func through(
        _ head: Head, after horizon: SequenceNumber, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber {
        if case .replicas = rule { return samples.withLock { $0.through(head, in: workspace) } }
        let before = known.withLock { $0[workspace] }
        // An answer for another epoch is useless: its numbers may belong to other changes.
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

    /// A backup may be of a history that was lost, so that its recorded head is compared with the stored batch.
    private func backedUp(_ head: Head, in workspace: WorkspaceID) async throws(StoreError) -> SequenceNumber? {
        guard let backup = try await parts.backups?.verifiedBackup(of: workspace)?.head, backup.seq > 0,
            backup.seq <= head.seq,
            backup.isOfHistory(holding: try await parts.store.batch(holding: backup.seq, in: workspace))
        else { return nil }
        return backup.seq
    }
}
