import GRDB
import TidemarkModel
import TidemarkStore

/// One step of a workspace's order on the writing connection: `BEGIN IMMEDIATE` is the workspace's lock.
struct SequenceStep {
    let db: Database
    let workspace: WorkspaceID
    let limits: StoreLimits
    let listeners: Listeners

    func run(_ reads: ReadSet, plan: (ReadResult) -> CommittedBatch?) throws -> CommittedBatch? {
        var planned: CommittedBatch?
        do {
            try db.beginTransaction(.immediate)
            let found = try read(reads)
            guard let batch = plan(found) else {
                try db.rollback()
                return nil
            }
            try batch.check(after: found.head)
            planned = batch
            try write(batch)
            try db.commit()
            return batch
        } catch {
            leaveTransaction()
            // A commit that failed half-way may have happened: the nonce tells.
            guard let planned, try head() == planned.head else { throw error }
            return planned
        }
    }

    func head() throws -> Head? {
        try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() })
    }

    private func leaveTransaction() {
        guard db.isInsideTransaction else { return }
        // It fails only when SQLite has rolled back by itself already, as it does after a full disk.
        try? db.rollback()
    }

    private func read(_ reads: ReadSet) throws -> ReadResult {
        var found = ReadResult(head: try head() ?? .start)
        found.hasListeners = listeners.isHeard(at: found.head.time)
        try readClients(reads, into: &found)
        let record = try Prepared(EmbeddedSQL.record, db)
        for key in reads.records {
            found.records[key] = try record.first({ $0.key(workspace, key) }, { try $0.record() })
        }
        let grant = try Prepared(EmbeddedSQL.grant, db)
        var asked = Set<Seat>()
        func ask(_ seat: Seat) throws {
            guard asked.insert(seat).inserted else { return }
            found.grants[seat] = try grant.first(
                {
                    $0.text(workspace.text)
                    $0.text(seat.user.text)
                    $0.text(seat.scope.text)
                }, { try $0.grant() })
        }
        for seat in reads.seats { try ask(seat) }
        let scope = try Prepared(EmbeddedSQL.scope, db)
        for recordSeat in reads.recordSeats {
            let known = found.records[recordSeat.record]?.scope
            let place = try known ?? scope.first({ $0.key(workspace, recordSeat.record) }, { ScopeID($0.text()) })
            if let place { try ask(Seat(user: recordSeat.user, scope: place)) }
        }
        return found
    }

    private func readClients(_ reads: ReadSet, into found: inout ReadResult) throws {
        let client = try Prepared(EmbeddedSQL.client, db)
        let results = try Prepared(EmbeddedSQL.results, db)
        for range in reads.clients {
            let row = try client.first(
                {
                    $0.text(workspace.text)
                    $0.id(range.client)
                }, { try $0.client() })
            guard let row else { continue }
            found.clients[range.client] = row
            guard range.first <= row.settledThrough else { continue }
            try results.forEach(
                {
                    $0.text(workspace.text)
                    $0.id(range.client)
                    $0.integer(range.first)
                    $0.integer(range.last)
                },
                { columns in
                    let result = try columns.result()
                    found.results[range.client, default: [:]][result.number] = result
                    return true
                })
        }
    }
}

extension Binding {
    mutating func key(_ workspace: WorkspaceID, _ key: RecordKey) {
        text(workspace.text)
        text(key.collection)
        id(key.id)
    }
}
