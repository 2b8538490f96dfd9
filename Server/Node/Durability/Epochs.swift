import Logging
import TidemarkLock
package import TidemarkModel
import TidemarkSequencer
package import TidemarkStore

/// Begins epochs when a database has provably gone back, notifies the other nodes, and counts the epochs (R-21,
/// LINEAGE.md). Any thread.
package final class Epochs: Sendable {
    private let parts: Node.Parts
    private struct State {
        var counts: [EpochReason: Int] = [:]
        /// Workspaces whose restore was counted, with the epoch.
        var restored: [WorkspaceID: Epoch] = [:]
    }

    private let state = Lock(State())

    init(_ parts: Node.Parts) { self.parts = parts }

    /// The epochs that this process has begun, or has found at the end of an order, by reason.
    package var begun: [EpochReason: Int] { state.withLock { $0.counts } }

    /// Counts an epoch that a restore or an operator began while no server ran. Only the first node that follows the
    /// order finds that epoch's own batch at its end.
    func found(_ head: Head, in workspace: WorkspaceID) async throws(StoreError) {
        guard head.epoch > Head.start.epoch, state.withLock({ $0.restored[workspace] != head.epoch }) else { return }
        guard let newest = try await parts.store.lineage(of: workspace).first, newest.first == head.seq,
            newest.reason == .restore || newest.reason == .command
        else { return }
        let isNew = state.withLock { state in
            guard state.restored.updateValue(head.epoch, forKey: workspace) != head.epoch else { return false }
            state.counts[newest.reason, default: 0] += 1
            return true
        }
        guard isNew else { return }
        parts.environment.logger.notice(
            "The database was restored: a workspace's order goes on in another epoch",
            metadata: [
                "workspace": "\(workspace)", "epoch": "\(head.epoch)", "first": "\(newest.first)",
                "reason": "\(newest.reason.rawValue)",
            ])
    }

    /// Begins an epoch if `condition` holds in what is stored.
    ///
    /// - Returns: the end of the order.
    package func begin(
        _ condition: EpochRaise.Condition, reason: EpochReason, in workspace: WorkspaceID
    ) async throws(StoreError) -> Head {
        let environment = parts.environment
        let raise = EpochRaise(condition, reason: reason, nonce: environment.nonce(), now: environment.now())
        let outcome = try await parts.store.raiseEpoch(raise, in: workspace)
        if case .raised(let start, let head) = outcome {
            state.withLock { $0.counts[reason, default: 0] += 1 }
            environment.logger.critical(
                "The database went back: another epoch of a workspace's order begins",
                metadata: [
                    "workspace": "\(workspace)", "epoch": "\(start.epoch)", "first": "\(start.first)",
                    "lost": "\(start.lost)", "reason": "\(reason.rawValue)",
                ])
            if parts.isStoreShared { parts.hints.announce(workspace, head.seq) }
        }
        return outcome.head
    }
}

extension Node {
    /// Returns head, grants and client of one user, and the batch that holds the number of `place`, from one snapshot.
    /// If `place` proves that the database went back, an epoch is begun first. Notes what was lost since `place` was
    /// issued.
    ///
    /// - Parameter place: a head under the seal of this server. Without the seal it proves nothing.
    package func session(
        for user: UserID, client: ClientID?, at place: Head?, in workspace: WorkspaceID
    ) async throws(StoreError) -> SessionSnapshot {
        var snapshot = try await store.session(for: user, client: client, holding: place?.seq, in: workspace)
        if let proof = snapshot.proof(by: place) {
            _ = try await epochs.begin(proof, reason: .cursor, in: workspace)
            await feeds[workspace]?.readOn(from: reader)
            snapshot = try await store.session(for: user, client: client, holding: place?.seq, in: workspace)
        }
        if snapshot.mayHaveLost(place) { snapshot.noteLoss(of: place, try await store.lineage(of: workspace)) }
        return snapshot
    }

    /// The reader of feeds that continue from the store.
    var reader: TailReader { TailReader(parts, commits, epochs) }
}
