package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// Takes the bodies from batches that all nodes have long read, in small steps, drops ledger entries over their time,
    /// and forgets lapsed listeners. The batches themselves stay: cursors are checked against them.
    ///
    /// To be called every minute by any number of nodes. It takes no workspace's lock.
    /// - Returns: the batches that lost their body; `trimBatchesMax` means that there may be more.
    @discardableResult
    package func trim(now: Milliseconds) async throws(StoreError) -> Int {
        let lapsed = now.subtractingReportingOverflow(options.limits.followLifetime)
        let time = try await clockWitness().bounding(now)
        // What operators read is not deleted because of one clock. What nodes read is not needed for longer than minutes.
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

    /// Finding goes over all workspaces, each change names its own.
    private func trim(olderThan time: Milliseconds, limit: Int) async throws(StoreError) -> Int {
        try await on(reading) { connection in
            var parameters = Parameters(time)
            parameters.add(Int64(limit))
            let found = try await connection.run([Statement(Self.oldBodies, parameters)]).first
            let places = try found?.all { (WorkspaceID(try $0.text()), try $0.integer()) } ?? []
            guard !places.isEmpty else { return 0 }
            let drops = Dictionary(grouping: places, by: \.0).sorted { $0.key < $1.key }.map { workspace, places in
                Statement(Self.dropBodies, workspace) { $0.add(places.map(\.1)) }
            }
            _ = try await connection.run(drops)
            return places.count
        }
    }

    private static let trimStep = 500

    /// By the partial index: it holds only batches that have a body.
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
