package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Runs on the connections for reads; each step is a transaction. Steps of the order wait only for the mark.
extension PostgresStore: Erasing {
    package func erasureCounts(
        of scope: ScopeID, in workspace: WorkspaceID
    ) async throws(StoreError) -> ErasureCounts {
        var counts = ErasureCounts()
        var after: Int64? = 0
        while let seq = after {
            let some = Statement(ErasureSQL.countRecords, workspace) {
                $0.add(text: scope.text)
                $0.add(seq)
                $0.add(Self.countedAtOnce)
            }
            after =
                try await read([some])[0].first { row in
                    counts.records += Int(try row.integer())
                    counts.tombstones += Int(try row.integer())
                    counts.bytes += try row.integer()
                    counts.ledgerEntries += Int(try row.integer())
                    return try row.optionalInteger()
                } ?? nil
        }
        counts.bodies =
            try await read([Statement(ErasureSQL.countBodies, workspace)])[0].first { Int(try $0.integer()) } ?? 0
        return counts
    }

    private static let countedAtOnce: Int64 = 5_000

    /// The lock waits for writers in the workspace, and every later batch sees the mark.
    package func beginErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> SequenceNumber? {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { connection in
            try await connection.run(
                begin + [
                    Statement(ErasureSQL.lock, workspace),
                    Statement(ErasureSQL.begin, workspace) {
                        $0.add(text: scope.text)
                        $0.add(now)
                    }, Transactions.commit,
                ])
        }
        return try Results(results.dropFirst(begin.count))[1].first { try $0.integer() }
    }

    package func members(
        of scope: ScopeID, in workspace: WorkspaceID, after cursor: Seat?, limit: Int
    ) async throws(StoreError) -> MemberPage {
        let some = Statement(ErasureSQL.members, workspace) {
            $0.add(text: cursor?.user.text ?? "")
            $0.add(text: cursor?.scope.text ?? "")
            $0.add(Int64(max(1, limit)))
        }
        let seats = try await read([some])[0].all { Seat(user: UserID(try $0.text()), scope: ScopeID(try $0.text())) }
        return MemberPage(
            users: seats.filter { $0.scope == scope }.map(\.user), next: seats.count < max(1, limit) ? nil : seats.last)
    }

    package func erase(
        _ scope: ScopeID, in workspace: WorkspaceID, keeping graves: Set<RecordKey>, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        try await inSteps(of: workspace) { _ in ScopeErasureMachine(scope, keeping: graves, limit: limit) }.step
    }

    package func endErasure(
        of scope: ScopeID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) {
        let end = Statement(ErasureSQL.end, workspace) {
            $0.add(text: scope.text)
            $0.add(now)
        }
        _ = try await on(reading) { try await $0.run([end]) }
    }

    package func openErasures(in workspace: WorkspaceID) async throws(StoreError) -> [ScopeID] {
        try await read([Statement(ErasureSQL.open, workspace)])[0].all { ScopeID(try $0.text()) }
    }

    func refuseErased(_ workspace: WorkspaceID) async throws(StoreError) {
        let found = try await read([Statement(ErasureSQL.isErased, workspace)])[0].first { try $0.integer() }
        if found != nil { throw .erasedWorkspace }
    }

    /// Deletes the row that is the workspace's lock together with the mark. It is never made again: transactions that
    /// wait for the lock, or ask for it later, find none.
    package func beginErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) -> Bool {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { connection in
            try await connection.run(
                begin + [
                    Statement(ErasureSQL.lock, workspace),
                    Statement(ErasureSQL.beginWorkspace, workspace) { $0.add(now) },
                    Statement(ErasureSQL.dropWorkspace, workspace), Statement(ErasureSQL.isErased, workspace),
                    Transactions.commit,
                ])
        }
        return try Results(results.dropFirst(begin.count))[3].first { try $0.integer() } != nil
    }

    /// Deletes first the rows of tables whose keys begin with the workspace, then records and clients, whose tables
    /// have to be searched for them.
    package func erase(
        _ workspace: WorkspaceID, from cursor: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> WorkspaceErasureStep {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        func changed(_ statements: [Statement]) async throws(StoreError) -> ArraySlice<ResultSet> {
            try await on(reading) { try await $0.run(begin + statements + [Transactions.commit]) }.dropFirst(
                begin.count)
        }
        guard let cursor else {
            let limit = Int64(max(1, limit))
            let gone = try await changed(ErasureSQL.dropRows.map { Statement($0, workspace) { $0.add(limit) } })
                .dropLast().map(\.affectedRows)
            let first = ErasurePlace(
                isPastRecords: false, key: RecordKey(collection: "", id: UniqueID(high: 0, low: 0)),
                workspace: WorkspaceID(""))
            return WorkspaceErasureStep(
                rows: gone.reduce(0, +), next: gone.contains { $0 >= limit } ? nil : first, isDone: false)
        }
        let walk =
            cursor.isPastRecords
            ? Statement(ErasureSQL.dropAllClients, workspace) {
                $0.add(cursor.key.id)
                $0.add(text: cursor.workspace.text)
                $0.add(ErasureSQL.walkedAtOnce)
            }
            : Statement(ErasureSQL.dropAllRecords, workspace) {
                $0.add(cursor.key.id)
                $0.add(text: cursor.key.collection)
                $0.add(text: cursor.workspace.text)
                $0.add(ErasureSQL.walkedAtOnce)
            }
        var step = WorkspaceErasureStep(rows: 0, isDone: false)
        step.next = try Results(try await changed([walk]))[0].first { row in
            step.rows = Int(try row.integer())
            let id = try row.id()
            let collection = cursor.isPastRecords ? "" : try row.text()
            return ErasurePlace(
                isPastRecords: cursor.isPastRecords, key: RecordKey(collection: collection, id: id),
                workspace: WorkspaceID(try row.text()))
        }
        guard step.next == nil else { return step }
        // Nothing is stored after the cursor.
        if cursor.isPastRecords { step.isDone = true }
        step.next = ErasurePlace(
            isPastRecords: true, key: RecordKey(collection: "", id: UniqueID(high: 0, low: 0)),
            workspace: WorkspaceID(""))
        return step
    }

    package func endErasure(of workspace: WorkspaceID, now: Milliseconds) async throws(StoreError) {
        let end = Statement(ErasureSQL.endWorkspace, workspace) { $0.add(now) }
        _ = try await on(reading) { try await $0.run([end]) }
    }

    /// Does nothing: PostgreSQL manages its files. ERASURE.md says what stays in them for how long.
    package func scrub() async throws(StoreError) {}

    /// Does nothing, like ``scrub()``.
    package func emptyLog() async throws(StoreError) {}
}

extension PostgresStore: BlobErasing {
    package func erasureUsage(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        try await read([Statement(BlobSQL.erasureUsage, workspace) { $0.add(text: scope.text) }])[0].first {
            BlobUsage(blobs: Int(try $0.integer()), bytes: try $0.integer())
        } ?? BlobUsage()
    }

    /// Two transactions: one finds some blobs, the other deletes them.
    package func eraseBlobs(of scope: ScopeID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        let find = Statement(BlobSQL.some, workspace) {
            $0.add(text: scope.text)
            $0.add(Int64(BlobUsage.stepMax.blobs))
        }
        let found = try await read([find])[0].all { (digest: try $0.text(), octets: try $0.integer()) }
        var step = BlobUsage()
        var digests: [String] = []
        for blob in found {
            guard step.blobs == 0 || step.bytes + blob.octets <= BlobUsage.stepMax.bytes else { break }
            digests.append(blob.digest)
            step.blobs += 1
            step.bytes += blob.octets
        }
        guard !digests.isEmpty else { return step }
        try await take(digests, outOf: scope, of: workspace)
        return step
    }

    /// Removes blobs from a scope, and deletes those that no other scope has.
    func take(_ digests: [String], outOf scope: ScopeID, of workspace: WorkspaceID) async throws(StoreError) {
        let (some, begin) = (digests.sorted(), transactions.beginWrite + [FenceSQL.check(generation)])
        _ = try await on(reading) { connection in
            try await connection.run(
                begin + [
                    Statement(BlobSQL.lock, workspace) { $0.add(some) },
                    Statement(BlobSQL.dropScopes, workspace) {
                        $0.add(some)
                        $0.add(text: scope.text)
                    }, Statement(BlobSQL.drop, workspace) { $0.add(some) }, Transactions.commit,
                ])
        }
    }

    package func eraseBlobs(of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        let scope = try await read([Statement(BlobSQL.nextScope, workspace)])[0].first { ScopeID(try $0.text()) }
        if let scope { return try await eraseBlobs(of: scope, in: workspace) }
        _ = try await on(reading) { try await $0.run([Statement(BlobSQL.dropUsage, workspace)]) }
        return BlobUsage()
    }

    package func scrubBlobs() async throws(StoreError) {}
}
