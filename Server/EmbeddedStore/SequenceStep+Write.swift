import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

extension SequenceStep {
    /// Writes the whole batch; each guarded statement must change its row, or the transaction is rolled back.
    ///
    /// - Parameter births: records that were taken for absent.
    /// - Throws: ``Collision`` if one of them is there.
    func write(_ batch: CommittedBatch, _ clients: [StoredClient], births: Set<RecordKey>) throws {
        if batch.low == 1 { try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) } }
        try write(batch.records, births, low: batch.low)
        try write(batch.memberships)
        try write(clients)
        try remove(batch.removals)
        try write(batch.ledger, at: batch.head.time)
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

    private func write(_ records: [StoredRecord], _ births: Set<RecordKey>, low: SequenceNumber) throws {
        guard !records.isEmpty else { return }
        try filing.runIfDue(db)
        let insert = try Prepared(EmbeddedSQL.insertRecord, db)
        let upsert = try Prepared(EmbeddedSQL.upsertRecord, db)
        for record in records {
            let place = try places.place(of: record.scope, in: workspace, db)
            if record.born >= low { filing.added(at: place) }
            if births.contains(record.key) {
                do {
                    try insert.execute { $0.record(record, at: place, in: workspace) }
                } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                    throw Collision()
                }
            } else {
                guard try upsert.execute({ $0.record(record, at: place, in: workspace) }) == 1 else {
                    throw StoreError(.invariant, "a record's scope and birth never change and its number rises")
                }
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

    private func remove(_ clients: [ClientID]) throws {
        for client in clients {
            let changed = try Prepared(EmbeddedSQL.removeClient, db).execute {
                $0.text(workspace.text)
                $0.id(client)
            }
            guard changed == 1 else { throw StoreError(.invariant, "only a registered client can be removed") }
        }
    }

    private func write(_ clients: [StoredClient]) throws {
        guard !clients.isEmpty else { return }
        let update = try Prepared(EmbeddedSQL.updateClient, db)
        for client in clients {
            let changed = try update.execute {
                $0.text(workspace.text)
                $0.id(client.row.id)
                $0.text(client.row.user.text)
                $0.integer(client.row.settledThrough)
                $0.integer(client.row.ackedThrough)
                $0.integer(client.row.connection)
                $0.text(client.keptBytes)
            }
            guard changed == 1 else {
                throw StoreError(.invariant, "a client that was read is not there, or its numbers would go back")
            }
        }
    }
}

extension Binding {
    fileprivate mutating func record(_ record: StoredRecord, at place: Int64, in workspace: WorkspaceID) {
        integer(place)
        key(workspace, record.key)
        text(record.scope.text)
        integer(record.seq)
        integer(record.born)
        integer(record.isDeleted ? 1 : 0)
        text(record.author.text)
        integer(record.created)
        integer(record.updated)
        if record.isDeleted { null() } else { text(record.body) }
    }
}
