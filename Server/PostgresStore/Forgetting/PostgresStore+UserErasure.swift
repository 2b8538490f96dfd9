package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

extension PostgresStore {
    /// One write transaction; see `Erasing`.
    package func beginErasure(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, now: Milliseconds
    ) async throws(StoreError) -> UserID? {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { connection in
            try await connection.run(
                begin + [
                    // Registrations wait for this lock, or see the mark.
                    Statement(ErasureSQL.lock, workspace),
                    Statement(ErasureSQL.beginUser, workspace) {
                        $0.add(text: user.text)
                        $0.add(text: alias.text)
                        $0.add(now)
                    }, Statement(ErasureSQL.alias, workspace) { $0.add(text: user.text) }, Transactions.commit,
                ])
        }
        return try Results(results.dropFirst(begin.count))[2].first { UserID(try $0.text()) }
    }

    /// Reads in the order of the key, over all workspaces, some thousand rows a step: no index finds authors.
    package func records(
        by user: UserID, in workspace: WorkspaceID, after cursor: ErasurePlace?, limit: Int
    ) async throws(StoreError) -> AuthoredPage {
        let none = UniqueID(high: 0, low: 0)
        let from =
            cursor
            ?? ErasurePlace(
                isPastRecords: false, key: RecordKey(collection: "", id: none), workspace: WorkspaceID(""))
        func add(_ cursor: ErasurePlace, to parameters: inout Parameters) {
            parameters.add(cursor.key.id)
            parameters.add(text: cursor.key.collection)
            parameters.add(text: cursor.workspace.text)
        }
        var walk = Parameters()
        add(from, to: &walk)
        walk.add(ErasureSQL.walkedAtOnce)
        let end = try await read([Statement(ErasureSQL.walkEnd, walk)])[0].first { row in
            let (id, collection) = (try row.id(), try row.text())
            return ErasurePlace(
                isPastRecords: false, key: RecordKey(collection: collection, id: id),
                workspace: WorkspaceID(try row.text()))
        }
        // Behind every possible key.
        let last = ErasurePlace(
            isPastRecords: false, key: RecordKey(collection: "\u{10FFFF}", id: UniqueID(high: .max, low: .max)),
            workspace: WorkspaceID(""))
        let records = try await read([
            Statement(ErasureSQL.authored, workspace) {
                $0.add(text: user.text)
                add(from, to: &$0)
                add(end ?? last, to: &$0)
                $0.add(Int64(max(1, limit)))
            }
        ])[0].all { try $0.record() }
        guard records.count >= max(1, limit), let key = records.last?.key else {
            return AuthoredPage(records: records, next: end)
        }
        return AuthoredPage(
            records: records, next: ErasurePlace(isPastRecords: false, key: key, workspace: workspace))
    }

    /// One write transaction; see `Erasing`.
    package func eraseTraces(
        of user: UserID, as alias: UserID, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> ErasureStep {
        let (limit, begin) = (Int64(max(1, limit)), transactions.beginWrite + [FenceSQL.check(generation)])
        let changed = try await on(reading) { connection in
            try await connection.run(
                begin + [
                    Statement(ErasureSQL.renameLedger, workspace) {
                        $0.add(text: user.text)
                        $0.add(text: alias.text)
                        $0.add(limit)
                    }, Statement(ErasureSQL.dropAllBodies, workspace) { $0.add(limit) },
                    Statement(ErasureSQL.dropBuried, workspace) {
                        $0.add(text: FieldValue.string(user.text).json)
                        $0.add(limit)
                    },
                    Statement(OperatingSQL.dropEndedOfUser, workspace) { $0.add(text: user.text) },
                    Statement(OperatingSQL.renameActs, workspace) {
                        $0.add(text: user.text)
                        $0.add(text: alias.text)
                    }, Statement(AccountSQL.dropAccountOfUser, workspace) { $0.add(text: user.text) },
                    Statement(AccountSQL.dropSignInsOfUser, workspace) { $0.add(text: user.text) },
                    Transactions.commit,
                ])
        }.dropFirst(begin.count).map(\.affectedRows)
        return ErasureStep(
            ledgerEntries: changed.first ?? 0, bodies: changed.dropFirst().first ?? 0,
            isDone: changed.prefix(3).allSatisfy { $0 < limit })
    }

    /// One write; see `Erasing`.
    package func endErasure(of user: UserID, in workspace: WorkspaceID) async throws(StoreError) {
        let end = Statement(ErasureSQL.endUser, workspace) { $0.add(text: user.text) }
        _ = try await on(reading) { try await $0.run([end]) }
    }

    /// One at a time: there are few, and they may be in any scope.
    package func eraseBlobs(by user: UserID, in workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        let found = try await read([Statement(BlobSQL.someOfUser, workspace) { $0.add(text: user.text) }])[0].first {
            (scope: ScopeID(try $0.text()), digest: try $0.text())
        }
        guard let found else { return BlobUsage() }
        try await take([found.digest], outOf: found.scope, of: workspace)
        return BlobUsage(blobs: 1, bytes: 0)
    }
}
