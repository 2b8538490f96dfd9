import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// Reads the state that a batch is planned on.
struct BatchReads {
    let db: Database
    let workspace: WorkspaceID

    func find(_ reads: ReadSet) throws -> OrderState {
        let head = try Prepared(EmbeddedSQL.head, db).first({ $0.text(workspace.text) }, { $0.head() })
        var found = OrderState(head: head ?? .start)
        for id in reads.clients { found.clients[id] = try client(id) }
        try findRecords(reads, into: &found)
        try findGrants(reads, into: &found)
        return found
    }

    func client(_ id: ClientID) throws -> StoredClient? {
        try Prepared(EmbeddedSQL.client, db).first(
            {
                $0.text(workspace.text)
                $0.id(id)
            }, { try $0.storedClient() })
    }

    private func findRecords(_ reads: ReadSet, into found: inout OrderState) throws {
        guard !reads.records.isEmpty else { return }
        let record = try Prepared(EmbeddedSQL.storedRecord, db)
        for key in reads.records {
            found.records[key] = try record.first({ $0.key(workspace, key) }, { try $0.storedRecord() })
        }
    }

    private func findGrants(_ reads: ReadSet, into found: inout OrderState) throws {
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
        guard !reads.recordSeats.isEmpty else { return }
        let scope = try Prepared(EmbeddedSQL.scope, db)
        for recordSeat in reads.recordSeats {
            let known = found.records[recordSeat.record]?.scope
            let ofRecord = try known ?? scope.first({ $0.key(workspace, recordSeat.record) }, { ScopeID($0.text()) })
            if let ofRecord { try ask(Seat(user: recordSeat.user, scope: ofRecord)) }
        }
    }
}
