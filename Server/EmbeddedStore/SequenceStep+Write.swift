import GRDB
import TidemarkModel
import TidemarkStore

extension SequenceStep {
    /// Writes the whole batch; each guarded statement must change its row, or the transaction is rolled back.
    func write(_ batch: CommittedBatch) throws {
        if batch.low == 1 { try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) } }
        try write(batch.records)
        try write(batch.memberships)
        for settlement in batch.settlements { try write(settlement) }
        try Prepared(EmbeddedSQL.insertBatch, db).execute {
            $0.text(workspace.text)
            $0.integer(batch.head.seq)
            $0.integer(batch.low)
            $0.integer(Int64(bitPattern: batch.head.nonce))
            $0.integer(batch.head.time)
            $0.integer(batch.head.epoch)
            if listeners.isHeard(at: batch.head.time) { $0.text(BatchBody.encode(batch)) } else { $0.null() }
        }
        // Earlier batches dropped what lay behind their own heads; this one drops what it has pushed out of the span.
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        guard gone > 0 else { return }
        try Prepared(EmbeddedSQL.dropBodies, db).execute {
            $0.text(workspace.text)
            $0.integer(limits.bodiesGoneThrough(head: batch.low - 1))
            $0.integer(gone)
        }
    }

    private func write(_ records: [StoredRecord]) throws {
        guard !records.isEmpty else { return }
        let upsert = try Prepared(EmbeddedSQL.upsertRecord, db)
        for record in records {
            let changed = try upsert.execute {
                $0.key(workspace, record.key)
                $0.text(record.scope.text)
                $0.integer(record.seq)
                $0.integer(record.born)
                $0.integer(record.isDeleted ? 1 : 0)
                $0.text(record.author.text)
                $0.integer(record.created)
                $0.integer(record.updated)
                if record.isDeleted { $0.null() } else { $0.text(record.body) }
            }
            guard changed == 1 else {
                throw StoreError(.invariant, "a record's scope and birth never change and its number rises")
            }
        }
    }

    private func write(_ memberships: [MembershipChange]) throws {
        for change in memberships {
            guard let role = change.role else {
                try Prepared(EmbeddedSQL.endMember, db).execute {
                    $0.text(workspace.text)
                    $0.text(change.user.text)
                    $0.text(change.scope.text)
                }
                continue
            }
            try Prepared(EmbeddedSQL.upsertMember, db).execute {
                $0.text(workspace.text)
                $0.text(change.user.text)
                $0.text(change.scope.text)
                $0.text(role.rawValue)
                $0.integer(change.begins)
                $0.integer(change.since == nil ? 1 : 0)
            }
        }
    }

    private func write(_ settlement: Settlement) throws {
        let client = settlement.client
        let changed = try Prepared(EmbeddedSQL.updateClient, db).execute {
            $0.text(workspace.text)
            $0.id(client.id)
            $0.text(client.user.text)
            $0.integer(client.settledThrough)
            $0.integer(client.ackedThrough)
            $0.integer(client.connection)
            $0.integer(settlement.settledBeforeMax)
        }
        guard changed == 1 else {
            throw StoreError(.invariant, "only a registered client can be settled, and its numbers never go back")
        }
        let insert = try Prepared(EmbeddedSQL.insertResult, db)
        for result in settlement.results where result.number > client.ackedThrough {
            try insert.execute {
                $0.text(workspace.text)
                $0.id(result.client)
                $0.integer(result.number)
                $0.id(result.transaction)
                $0.integer(result.seq)
                $0.integer(result.time)
                if let rejection = result.rejection {
                    $0.text(rejection.code.rawValue)
                    $0.text(rejection.message)
                } else {
                    $0.null()
                    $0.null()
                }
            }
        }
        guard client.ackedThrough > 0 else { return }
        try Prepared(EmbeddedSQL.dropResults, db).execute {
            $0.text(workspace.text)
            $0.id(client.id)
            $0.integer(client.ackedThrough)
        }
    }
}
