import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// Writes one batch on the writing connection. Anything that must not happen fails the batch and rolls it back.
struct BatchWrite {
    let db: Database
    let workspace: WorkspaceID
    let limits: StoreLimits
    /// True when another node needs the body.
    let keepsBody: Bool
    let places: ScopePlaces
    let filing: Filing
    let erased: ErasedScopes

    /// A record that was planned as new exists, or one to be changed has been compacted since.
    private struct Collision: Error {}

    /// Commits a batch if the workspace's order still ends where the batch was planned.
    ///
    /// - Returns: false if it does not, if a record to be inserted exists, or if one to be changed is missing. Nothing
    ///   was written then.
    func commit(_ planned: PlannedBatch) throws -> Bool {
        do {
            try db.beginTransaction(.immediate)
            guard try head() == planned.base else {
                try db.rollback()
                return false
            }
            try write(planned)
            try db.commit()
            return true
        } catch is Collision {
            leaveTransaction()
            return false
        } catch {
            leaveTransaction()
            // A commit that failed half-way may have happened: the nonce decides.
            guard try head() == planned.batch.head else { throw error }
            return true
        }
    }

    private func head() throws -> Head {
        try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() }) ?? .start
    }

    private func leaveTransaction() {
        places.forget()
        filing.forget()
        guard db.isInsideTransaction else { return }
        // It fails only if SQLite has already rolled back by itself, as it does after a full disk.
        try? db.rollback()
    }

    private func write(_ planned: PlannedBatch) throws {
        let batch = planned.batch
        if batch.low == 1 { try Prepared(EmbeddedSQL.makeWorkspace, db).execute { $0.text(workspace.text) } }
        try write(batch.records, existing: planned.existing, low: batch.low)
        try write(batch.memberships)
        try write(planned.clients)
        try remove(batch.removals)
        try write(batch.ledger)
        try Prepared(EmbeddedSQL.insertBatch, db).execute {
            $0.text(workspace.text)
            $0.integer(batch.head.seq)
            $0.integer(batch.low)
            $0.integer(Int64(bitPattern: batch.head.nonce))
            $0.integer(batch.head.time)
            $0.integer(batch.head.epoch)
            if keepsBody { $0.text(BatchBody.encode(batch)) } else { $0.null() }
        }
        // Earlier batches dropped bodies behind their own heads; this one drops those that it has pushed out of the
        // span.
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        guard gone > 0 else { return }
        try Prepared(EmbeddedSQL.dropBodies, db).execute {
            $0.text(workspace.text)
            $0.integer(limits.bodiesGoneThrough(head: batch.low - 1))
            $0.integer(gone)
        }
    }

    private func write(
        _ records: [StoredRecord], existing: Set<RecordKey>, low: SequenceNumber
    ) throws {
        guard !records.isEmpty else { return }
        guard !erased.holds(anyOf: records, in: workspace) else { throw StoreError.erasedScope }
        try filing.runIfDue(db)
        let insert = try Prepared(EmbeddedSQL.insertRecord, db)
        let update = try Prepared(EmbeddedSQL.updateRecord, db)
        for record in records {
            let place = try places.place(of: record.scope, in: workspace, db)
            if record.born >= low { filing.added(at: place) }
            guard existing.contains(record.key) else {
                do {
                    try insert.execute { $0.record(record, at: place, in: workspace) }
                } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                    throw Collision()
                }
                continue
            }
            guard try update.execute({ $0.record(record, at: place, in: workspace) }) == 1 else {
                let isThere = try Prepared(EmbeddedSQL.hasRecord, db).first({ $0.key(workspace, record.key) }) {
                    $0.integer()
                }
                guard isThere != nil else { throw Collision() }
                throw StoreError(.invariant, "a record's scope and birth never change and its number rises")
            }
        }
    }

    private func write(_ memberships: [MembershipChange]) throws {
        for change in memberships {
            guard let role = change.role else {
                try Prepared(OperatingSQL.keepEnded, db).execute {
                    $0.text(workspace.text)
                    $0.text(change.user.text)
                    $0.text(change.scope.text)
                    $0.integer(change.seq)
                }
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
                throw StoreError(.invariant, "a client that was read no longer exists, or its numbers would decrease")
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
        if record.isDeleted, !record.buried.isEmpty { text(record.buried) } else { null() }
    }
}

extension Binding {
    mutating func key(_ workspace: WorkspaceID, _ key: RecordKey) {
        text(workspace.text)
        text(key.collection)
        id(key.id)
    }
}

extension BatchWrite {
    /// Writes the batch's ledger and trims that of its records; runs nothing for an empty one.
    func write(_ ledger: [LedgerEntry]) throws {
        guard !ledger.isEmpty else { return }
        let insert = try Prepared(LedgerSQL.insert, db)
        for entry in ledger { try insert.execute { $0.ledgerEntry(entry, in: workspace) } }
        let trim = try Prepared(LedgerSQL.trim, db)
        for key in Set(ledger.map(\.key)).sorted() {
            try trim.execute {
                $0.key(workspace, key)
                $0.integer(Int64(limits.ledgerEntriesMax))
                $0.integer(Int64(limits.ledgerBytesMax))
            }
        }
    }
}

extension Binding {
    fileprivate mutating func ledgerEntry(_ entry: LedgerEntry, in workspace: WorkspaceID) {
        key(workspace, entry.key)
        text(entry.scope.text)
        integer(entry.seq)
        text(entry.value.field)
        text(entry.value.rule.rawValue)
        optional(entry.value.old?.json)
        optional(entry.value.new?.json)
        optional(entry.oldAuthor?.text)
        text(entry.author.text)
        id(entry.client)
        optional(entry.app)
        integer(entry.time)
        integer(Int64(entry.octets))
    }

    private mutating func optional(_ value: String?) {
        if let value { text(value) } else { null() }
    }
}
