package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// Deletes the bodies of batches that all nodes have read long ago, in small steps, deletes expired ledger entries,
    /// and forgets lapsed listeners. The batches themselves stay: cursors are checked against them.
    ///
    /// Called every minute by any number of nodes. It takes no workspace's lock.
    /// - Returns: the count of batches that lost their body; at `trimBatchesMax` there may be more.
    @discardableResult
    package func trim(now: Milliseconds) async throws(StoreError) -> Int {
        let lapsed = now.subtractingReportingOverflow(options.limits.followLifetime)
        let time = try await clockWitness().bounding(now)
        // The operators' log is not deleted because of one clock. Nodes need bodies for minutes only.
        let isLog = options.limits.logLifetime > options.bodyLifetime
        let old = (isLog ? time : now).subtractingReportingOverflow(
            max(options.bodyLifetime, options.limits.logLifetime))
        guard !lapsed.overflow, !old.overflow else { return 0 }
        _ = try await on(reading) {
            try await $0.run([
                FenceSQL.check(generation), Statement(Self.dropLapsed, Parameters(lapsed.partialValue)),
            ])
        }
        _ = try await trimLedger(now: time)
        var trimmed = 0
        while trimmed < options.trimBatchesMax {
            let step = min(Self.trimStep, options.trimBatchesMax - trimmed)
            let found = try await trim(olderThan: old.partialValue, limit: step)
            trimmed += found
            if found < step { break }
        }
        return trimmed
    }

    /// Finds bodies over all workspaces; each update names its own workspace.
    private func trim(olderThan time: Milliseconds, limit: Int) async throws(StoreError) -> Int {
        try await on(reading) { connection in
            var parameters = Parameters(time)
            parameters.add(Int64(limit))
            let found = try await connection.run([Statement(Self.oldBodies, parameters)]).first
            let batches = try found?.all { (WorkspaceID(try $0.text()), try $0.integer()) } ?? []
            guard !batches.isEmpty else { return 0 }
            let drops = Dictionary(grouping: batches, by: \.0).sorted { $0.key < $1.key }.map { workspace, some in
                Statement(Self.dropBodies, workspace) { $0.add(some.map(\.1)) }
            }
            _ = try await connection.run(drops)
            return batches.count
        }
    }

    private static let trimStep = 500

    /// The old bodies, by the partial index of batches that have one.
    private static let oldBodies = PreparedStatement(
        name: "sync_old_bodies",
        sql: """
            SELECT workspace, seq
            FROM sync_batch
            WHERE body IS NOT NULL AND time < $1
            LIMIT $2
            """)

    private static let dropBodies = PreparedStatement(
        name: "sync_drop_old_bodies",
        sql: """
            UPDATE sync_batch
            SET body = NULL
            WHERE workspace = $1 AND seq = ANY ($2) AND body IS NOT NULL
            """)

    private static let dropLapsed = PreparedStatement(
        name: "sync_drop_all_lapsed",
        sql: """
            DELETE FROM sync_listener
            WHERE seen <= $1
            """)
}

extension Parameters {
    fileprivate init(_ number: Int64) {
        self.init()
        add(number)
    }
}
