import Foundation
package import Logging
package import TidemarkModel
import TidemarkNode
package import TidemarkStore

/// The compaction of one workspace from the command line, beside running servers: `tidemark compact`.
package struct WorkspaceCompaction: Sendable {
    package let workspace: WorkspaceID
    /// The milliseconds that deletions are kept; `nil` for the workspace's own setting, or else the server's.
    package var keep: Int64?
    /// True when the operator vouches for this machine's clock, whatever the database's evidence of the time.
    private let trustsClock: Bool
    private let configuration: ServerConfiguration
    private let shell: ShellOperator

    package init(
        _ configuration: ServerConfiguration, workspace: WorkspaceID, keep: Int64?, trustsClock: Bool = false,
        by shell: ShellOperator = ShellOperator()
    ) {
        self.configuration = configuration
        self.shell = shell
        self.workspace = workspace
        self.keep = keep
        self.trustsClock = trustsClock
    }

    /// The plan, then the sum of all steps so far.
    package enum Progress: Sendable {
        case planned(CompactionPlan, olderThan: Milliseconds)
        case stepped(CompactionStep)
        case steppedBlobs(BlobCompactionStep)
    }

    /// Sets how long the workspace keeps deletions; `nil` returns to the server's setting.
    ///
    /// - Throws: `StoreError`, also when there is no such workspace.
    package func setKeep(_ keep: Int64?, logger: Logger) async throws {
        try await OpenedStore.using(configuration, logger: logger) { opened in
            let store = opened.operating
            let argument = "keep \(keep.map { "\($0 / 1_000) s" } ?? "default")"
            try await shell.keeping(.compact, of: opened, in: workspace, argument: argument) {
                guard try await store.setKeep(keep, of: workspace) else {
                    throw StoreError(.data, "there is no workspace \(workspace)")
                }
            }
        }
    }

    /// Reports the plan and, unless only the plan is wanted, compacts in steps with pauses.
    ///
    /// - Parameter tell: called with the plan, then after each step with everything so far.
    package func run(isPlan: Bool, logger: Logger, tell: @Sendable (Progress) -> Void) async throws {
        let limits = configuration.limits.node.compaction
        try await OpenedStore.using(configuration, logger: logger) { opened in
            let store = opened.operating
            guard let revision = try await opened.schemas.begin(with: nil).newest else {
                throw StoreError(
                    .data, "the database knows no schema yet: a server of this version has to be started on it first")
            }
            let kept = try await store.keep(of: workspace)
            let order = CompactionOrder(
                schema: try revision.schema(), keep: keep ?? kept ?? limits.keep, ledgerLifetime: limits.ledgerLifetime,
                now: Self.now, limit: limits.stepRows)
            let plan = try await store.compactionPlan(of: workspace, olderThan: order.time)
            guard plan.head > 0 else {
                throw StoreError(.data, "nothing was ever written in workspace \(workspace): is its name right?")
            }
            tell(.planned(plan, olderThan: order.time))
            guard !isPlan else { return }
            try await checkClock(store)
            try await shell.keeping(.compact, of: opened, in: workspace, argument: "before \(order.time)") {
                try await carryOut(
                    order, blobs: opened.blobs, of: store, limits, keep: keep ?? kept ?? limits.keep, tell: tell)
            }
        }
    }

    /// Checks this machine's clock: nothing is deleted because of one clock alone (COMPACTION.md, "Clocks").
    private func checkClock(_ store: any Compacting) async throws {
        let (witness, now) = (try await store.clockWitness(), Self.now)
        let bounded = witness.bounding(now)
        guard bounded < now else { return }
        guard trustsClock else {
            let last = bounded - ClockWitness.leadMax
            throw StoreError(
                .data,
                "this machine's clock says \(Self.day(now)), but the database was last compacted or written by "
                    + "\(Self.day(last)), or has that time itself. If the clock is right, add --trust-clock")
        }
        // Servers trust the same clock from here on.
        _ = try await store.beginCompaction(of: workspace, before: now, now: now)
    }

    private static func day(_ time: Milliseconds) -> String {
        Date(timeIntervalSince1970: Double(time) / 1_000).formatted(.iso8601)
    }

    private func carryOut(
        _ order: CompactionOrder, blobs: any BlobStore, of store: any Compacting, _ limits: CompactionLimits,
        keep: Int64,
        tell: @Sendable (Progress) -> Void
    ) async throws {
        let clock = ContinuousClock()
        var all = CompactionStep(horizon: 0, isDone: false)
        while !all.isDone {
            all = all + (try await store.compact(workspace, order))
            tell(.stepped(all))
            try await clock.sleep(for: limits.pause)
        }
        var compaction = BlobCompaction(
            of: workspace, limits.blobSpans(keep: keep), records: store, blobs: blobs,
            limit: limits.stepRows)
        var rest = BlobCompactionStep(isDone: false)
        while !rest.isDone {
            rest = rest + (try await compaction.step(now: Self.now))
            tell(.steppedBlobs(rest))
            try await clock.sleep(for: limits.pause)
        }
        while try await blobs.giveBackBlobs(pages: limits.stepPages) > 0 {
            try await clock.sleep(for: limits.pause)
        }
        while try await store.giveBack(pages: limits.stepPages) > 0 { try await clock.sleep(for: limits.pause) }
    }

    private static var now: Milliseconds { Milliseconds(Date().timeIntervalSince1970 * 1_000) }
}
