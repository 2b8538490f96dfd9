import GRDB
package import TidemarkModel
import TidemarkSQLite
package import TidemarkStore

extension EmbeddedStore: Compacting {
    package func clockWitness() async throws(StoreError) -> ClockWitness {
        try await onReader { try CompactionSQL.clockWitness($0) }
    }

    package func workspacesToCompact(
        before time: Milliseconds, limit: Int
    ) async throws(StoreError) -> [CompactionTurn] {
        try await onReader { db in
            try Prepared(CompactionSQL.due, db).all(
                {
                    $0.integer(time)
                    $0.integer(Int64(max(0, limit)))
                }, { CompactionTurn(workspace: WorkspaceID($0.text()), keep: $0.optionalInteger()) })
        }
    }

    package func beginCompaction(
        of workspace: WorkspaceID, before time: Milliseconds, now: Milliseconds
    ) async throws(StoreError) -> Bool {
        try await onWriter { db in
            try Prepared(CompactionSQL.begin, db).execute {
                $0.text(workspace.text)
                $0.integer(time)
                $0.integer(now)
            } == 1
        }
    }

    package func keep(of workspace: WorkspaceID) async throws(StoreError) -> Int64? {
        try await onReader { db in
            try Prepared(CompactionSQL.keep, db).first({ $0.text(workspace.text) }, { $0.optionalInteger() }) ?? nil
        }
    }

    package func setKeep(_ keep: Int64?, of workspace: WorkspaceID) async throws(StoreError) -> Bool {
        try await onWriter { db in
            try Prepared(CompactionSQL.setKeep, db).execute {
                $0.text(workspace.text)
                if let keep { $0.integer(keep) } else { $0.null() }
            } == 1
        }
    }

    package func compactionPlan(
        of workspace: WorkspaceID, olderThan time: Milliseconds
    ) async throws(StoreError) -> CompactionPlan {
        try await onReader { db in
            let feed = FeedQuery(db: db, workspace: workspace)
            let horizon = try feed.horizon()
            let target = max(horizon, try feed.target(olderThan: time)?.seq ?? 0)
            func count(_ sql: String) throws -> Int {
                try Prepared(sql, db).first(
                    {
                        $0.text(workspace.text)
                        $0.integer(target)
                    }, { Int($0.integer()) }) ?? 0
            }
            return CompactionPlan(
                head: try feed.head().seq, horizon: horizon, target: target,
                tombstones: try count(CompactionSQL.countTombstones), batches: try count(CompactionSQL.countBatches))
        }
    }

    /// One write transaction; the search for the horizon runs beside it.
    package func compact(
        _ workspace: WorkspaceID, _ order: CompactionOrder
    ) async throws(StoreError) -> CompactionStep {
        let target = try await onReader { try FeedQuery(db: $0, workspace: workspace).target(olderThan: order.time) }
        return try await onWriter { [filing, erased] db in
            var machine = CompactionMachine(order, horizon: 0)
            do {
                try db.inTransaction(.immediate) {
                    if let target {
                        try Prepared(CompactionSQL.raise, db).execute {
                            $0.text(workspace.text)
                            $0.integer(target.seq)
                            $0.integer(Int64(bitPattern: target.nonce))
                        }
                    }
                    machine = CompactionMachine(order, horizon: try FeedQuery(db: db, workspace: workspace).horizon())
                    let step = RowStep(db: db, workspace: workspace, filing: filing)
                    try machine.run { try step.answer($0) }
                    return .commit
                }
                // The last step may have deleted marks. The marks in memory follow the commit.
                if machine.step.isDone { try erased.read(workspace, db) }
            } catch {
                filing.forget()
                throw error
            }
            return machine.step
        }
    }

    package func allClients(after cursor: ClientPlace?, limit: Int) async throws(StoreError) -> [ClientSighting] {
        try await onReader { db in
            try Prepared(CompactionSQL.clients, db).all(
                {
                    $0.text(cursor?.workspace.text ?? "")
                    $0.text(cursor?.client.description ?? "")
                    $0.integer(Int64(max(0, limit)))
                },
                {
                    let position = ClientPlace(workspace: WorkspaceID($0.text()), client: try $0.id())
                    let user = UserID($0.text())
                    let (seen, isOwed) = ($0.integer(), $0.integer() != 0)
                    return ClientSighting(
                        place: position, user: user, seen: seen, keep: $0.optionalInteger(), isOwed: isOwed)
                })
        }
    }

    package func giveBack(pages: Int) async throws(StoreError) -> Int {
        try await onWriter { try Self.giveBack(pages: pages, $0) }
    }

    static func giveBack(pages: Int, _ db: Database) throws -> Int {
        let before = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
        guard before > 0, pages > 0 else { return 0 }
        try db.execute(sql: "PRAGMA incremental_vacuum(\(pages))")
        return before - (try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? before)
    }

    package func blobNames(
        _ question: BlobScan.Question, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> BlobNamePage {
        try await onReader { [limits] db in
            let spots = try ScopeSearch(db: db, workspace: workspace)
                .spots(in: question.scope, after: question.after, limit: limit)
            let select = try Prepared(EmbeddedSQL.recordAtRow, db)
            let overwritten = try Prepared(LedgerSQL.values, db)
            var search = BlobNameSearch(for: question.wanted)
            var (bytes, isCut) = (0, spots.count >= limit)
            var last: SequenceNumber?
            for spot in spots {
                guard let record = try select.first({ $0.integer(spot.row) }, { try $0.record() }) else { continue }
                bytes += record.body.count
                if bytes > limits.readBytesMax, last != nil {
                    isCut = true
                    break
                }
                search.look(through: record.body)
                try overwritten.forEach(
                    {
                        $0.text(workspace.text)
                        $0.text(record.key.collection)
                        $0.id(record.key.id)
                    },
                    { columns in
                        for value in [columns.optionalBytes(), columns.optionalBytes()] {
                            bytes += value?.count ?? 0
                            search.look(through: value ?? [])
                        }
                        return true
                    })
                last = record.seq
            }
            return BlobNamePage(found: search.found, next: isCut ? last : nil)
        }
    }
}

extension FeedQuery {
    /// The last batch before a time; `nil` if there is none above the horizon.
    fileprivate func target(olderThan time: Milliseconds) throws -> Head? {
        var search = HorizonSearch(olderThan: time, after: try horizon(), head: try head())
        while let probe = search.probe { search.take(try batch(holding: probe)) }
        return search.found
    }
}
