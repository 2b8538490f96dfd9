import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore {
    /// See `Store.raiseEpoch`: one write transaction.
    package func raiseEpoch(
        _ raise: EpochRaise, in workspace: WorkspaceID
    ) async throws(StoreError) -> EpochOutcome {
        try await onWriter { [erased] db in
            try erased.check(workspace)
            var outcome = EpochOutcome.stands(.start)
            try db.inTransaction(.immediate) {
                let feed = FeedQuery(db: db, workspace: workspace)
                let head = try feed.head()
                let found = try raise.lookup.flatMap { try feed.batch(holding: $0) }
                guard let step = raise.step(at: head, holding: found, horizon: try feed.horizon()) else {
                    outcome = .stands(head)
                    return .rollback
                }
                try Self.write(step, in: workspace, db)
                outcome = .raised(step.start, step.batch.head)
                return .commit
            }
            return outcome
        }
    }

    private static func write(_ step: EpochStep, in workspace: WorkspaceID, _ db: Database) throws {
        try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) }
        let (start, head) = (step.start, step.batch.head)
        try Prepared(EmbeddedSQL.insertBatch, db).execute {
            $0.text(workspace.text)
            $0.integer(head.seq)
            $0.integer(step.batch.low)
            $0.integer(Int64(bitPattern: head.nonce))
            $0.integer(head.time)
            $0.integer(head.epoch)
            $0.text(BatchBody.encode(step.batch))
        }
        try Prepared(LineageSQL.insert, db).execute {
            $0.text(workspace.text)
            $0.integer(start.epoch)
            $0.integer(start.first)
            $0.integer(Int64(bitPattern: start.baseNonce))
            $0.integer(start.time)
            $0.text(start.reason.rawValue)
            $0.integer(start.lost)
        }
    }

    /// See `Store.lineage`.
    package func lineage(of workspace: WorkspaceID) async throws(StoreError) -> [EpochStart] {
        try await onReader { [limits] db in
            try Prepared(LineageSQL.list, db).all(
                {
                    $0.text(workspace.text)
                    $0.integer(Int64(limits.lineageListedMax))
                },
                {
                    EpochStart(
                        epoch: $0.integer(), first: $0.integer(), baseNonce: UInt64(bitPattern: $0.integer()),
                        time: $0.integer(), reason: EpochReason(stored: $0.text()), lost: $0.integer())
                })
        }
    }
}
