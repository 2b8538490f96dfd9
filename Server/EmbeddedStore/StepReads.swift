import GRDB
import TidemarkModel
import TidemarkSQLite
import TidemarkStore

/// What a step looks at before it plans: from memory where that holds it, else from the file.
struct StepReads {
    let db: Database
    let workspace: WorkspaceID

    /// Everything that `reads` asks for except its births. The memory learns what was read.
    func find(_ reads: ReadSet, at head: Head, _ memory: inout OrderMemory) throws -> ReadResult {
        if memory.head != head { memory.forget() }
        var found = ReadResult(head: head)
        var clients: [StoredClient] = []
        for range in reads.clients {
            if let known = memory.client(range.client) {
                found.take(known, range)
            } else if let stored = try client(range.client) {
                found.take(stored, range)
                clients.append(stored)
            }
        }
        try findRecords(reads, into: &found)
        try findGrants(reads, memory, into: &found)
        memory.found(at: head, heard: nil, clients: clients, grants: found.grants)
        return found
    }

    func client(_ id: ClientID) throws -> StoredClient? {
        try Prepared(EmbeddedSQL.client, db).first(
            {
                $0.text(workspace.text)
                $0.id(id)
            }, { try $0.storedClient() })
    }

    private func findRecords(_ reads: ReadSet, into found: inout ReadResult) throws {
        guard !reads.records.isEmpty else { return }
        let record = try Prepared(EmbeddedSQL.record, db)
        for key in reads.records {
            found.records[key] = try record.first({ $0.key(workspace, key) }, { try $0.record() })
        }
    }

    private func findGrants(_ reads: ReadSet, _ memory: OrderMemory, into found: inout ReadResult) throws {
        let grant = try Prepared(EmbeddedSQL.grant, db)
        var asked = Set<Seat>()
        func ask(_ seat: Seat) throws {
            guard asked.insert(seat).inserted else { return }
            if let known = memory.grant(seat) { return found.grants[seat] = known }
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
            let place = try known ?? scope.first({ $0.key(workspace, recordSeat.record) }, { ScopeID($0.text()) })
            if let place { try ask(Seat(user: recordSeat.user, scope: place)) }
        }
    }
}
