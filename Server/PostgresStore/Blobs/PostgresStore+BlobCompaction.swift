package import TidemarkModel
import TidemarkPostgres
package import TidemarkStore

/// Runs on the connections for reads; each step is a transaction.
extension PostgresStore: BlobCompacting {
    package func dueBlobs(of workspace: WorkspaceID, _ due: DueStages) async throws(StoreError) -> [DueBlob] {
        let find = Statement(BlobCompactionSQL.due, workspace) {
            $0.add(due.neededBelow)
            $0.add(due.unnamedAbove)
            $0.add(due.withdrawnAbove)
            $0.add(Int64(DueBlob.pairsMax))
        }
        let rows = try await read([find])[0].all { row in
            guard let digest = BlobDigest(checking: try row.text()) else {
                throw StoreError(.invariant, "a stored digest is malformed")
            }
            let stage = BlobStage(stored: try row.integer())
            let blob = DueBlob(digest: digest, bytes: try row.integer(), stage: stage, scopes: [])
            return (blob: blob, scope: try row.optionalText().map { ScopeID($0) })
        }
        return DueBlob.gathered(rows)
    }

    /// One transaction, like ``take(_:of:)``.
    package func move(
        _ blobs: [DueBlob], to stage: BlobStage, of workspace: WorkspaceID
    ) async throws(StoreError) -> Int {
        let blobs = blobs.sorted { $0.digest < $1.digest }
        guard !blobs.isEmpty else { return 0 }
        let results = try await changing([
            Statement(BlobSQL.lock, workspace) { $0.add(blobs.map(\.digest.text)) },
            Statement(BlobCompactionSQL.move, workspace) {
                $0.add(blobs)
                $0.add(stage.stored)
            },
        ])
        return results[1].affectedRows
    }

    /// One transaction: puts of these blobs have ended before, or begin after it.
    package func take(_ blobs: [DueBlob], of workspace: WorkspaceID) async throws(StoreError) -> BlobUsage {
        let blobs = blobs.sorted { $0.digest < $1.digest }
        guard !blobs.isEmpty else { return BlobUsage() }
        let results = try await changing([
            Statement(BlobSQL.lock, workspace) { $0.add(blobs.map(\.digest.text)) },
            Statement(BlobCompactionSQL.take, workspace) { $0.add(blobs) },
        ])
        return try Results(results[...])[1].first { BlobUsage(blobs: Int(try $0.integer()), bytes: try $0.integer()) }
            ?? BlobUsage()
    }

    /// Does nothing: autovacuum does it.
    package func giveBackBlobs(pages: Int) async throws(StoreError) -> Int { 0 }

    package func blobNames(
        _ question: BlobScan.Question, in workspace: WorkspaceID, limit: Int
    ) async throws(StoreError) -> BlobNamePage {
        let read = Statement(BlobCompactionSQL.names, workspace) {
            $0.add(text: question.scope.text)
            $0.add(question.after)
            $0.add(Int64(max(1, limit)))
            $0.add(Int64(options.limits.readBytesMax))
        }
        var search = BlobNameSearch(for: question.wanted)
        var end: SequenceNumber?
        let rows = try await self.read([read])[0].all { row in
            let (seq, body) = (try row.integer(), try row.optionalBytes())
            let overwritten = try row.optionalBytes()
            return (seq: seq, texts: [body, overwritten], isLast: try row.bool())
        }
        for row in rows {
            for text in row.texts { search.look(through: text ?? []) }
            end = row.isLast ? nil : row.seq
        }
        return BlobNamePage(found: search.found, next: end)
    }

    /// Runs statements in one transaction, in one round trip.
    private func changing(_ statements: [Statement]) async throws(StoreError) -> [ResultSet] {
        let begin = transactions.beginWrite + [FenceSQL.check(generation)]
        let results = try await on(reading) { try await $0.run(begin + statements + [Transactions.commit]) }
        let own = Array(results.dropFirst(begin.count).dropLast())
        guard own.count == statements.count else {
            throw StoreError(.unavailable, "the database answered fewer statements than were sent")
        }
        return own
    }
}

extension Parameters {
    /// Adds the blobs' digests and their stages.
    fileprivate mutating func add(_ blobs: [DueBlob]) {
        add(blobs.map(\.digest.text))
        add(blobs.map(\.stage.stored))
    }
}
