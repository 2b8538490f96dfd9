import TidemarkModel

/// The tables of one workspace.
struct WorkspaceTables: Sendable {
    /// All batches in order; the last one's head is the workspace's.
    var batches: [TailBatch] = []
    /// The index of the first batch that may still have its body.
    var firstBody = 0
    var records: [RecordKey: StoredRecord] = [:]
    var scopes: [ScopeID: ScopeIndex] = [:]
    var clients: [ClientID: StoredClient] = [:]
    var grants: [UserID: [ScopeID: Grant]] = [:]
    var clientCounts: [UserID: Int] = [:]
    /// The registration time and the last sighting of each client.
    var sightings: [ClientID: (registered: Milliseconds, last: SeenClient)] = [:]
    var listeners = Listeners()
    /// Values that were overwritten unseen, newest first.
    var ledger: [RecordKey: [LedgerEntry]] = [:]
    /// Ended memberships in the order of their ends.
    var endedMemberships: [EndedMembership] = []
    var accounts = MemoryAccounts()
    var horizon: SequenceNumber = 0
    /// The beginnings of epochs, the newest last.
    var lineage: [EpochStart] = []
    /// Users who are being erased, and their aliases.
    var erasedUsers: [UserID: UserID] = [:]
    /// Scopes that accept no writes any more, and the end of the order when their erasure began or ended.
    var erased: [ScopeID: (through: SequenceNumber, isOver: Bool)] = [:]
    var keep: Int64?
    /// The beginning of the workspace's last compaction turn.
    var compacted: Milliseconds = 0

    var head: Head { batches.last?.head ?? .start }

    func read(_ reads: ReadSet) -> OrderState {
        let reads = reads.lookingAtBirths
        var found = OrderState(head: head)
        for client in reads.clients { found.clients[client] = clients[client] }
        for key in reads.records { found.records[key] = records[key] }
        for seat in reads.seats { found.grants[seat] = grants[seat.user]?[seat.scope] }
        for recordSeat in reads.recordSeats {
            guard let scope = records[recordSeat.record]?.scope else { continue }
            found.grants[Seat(user: recordSeat.user, scope: scope)] = grants[recordSeat.user]?[scope]
        }
        return found
    }

    /// Returns whether the stored head is the one that the batch was planned on, and its new records do not exist.
    func holds(_ planned: PlannedBatch) -> Bool {
        head == planned.base
            && planned.batch.records.allSatisfy { planned.existing.contains($0.key) || records[$0.key] == nil }
    }

    mutating func register(
        _ client: ClientID, for user: UserID, now: Milliseconds, limits: StoreLimits
    ) -> Registration {
        if let row = clients[client]?.row { return row.user == user ? .registered(row) : .taken }
        guard clientCounts[user, default: 0] < limits.clientsPerUserMax, erasedUsers[user] == nil else {
            return .tooMany
        }
        let row = ClientRow(id: client, user: user)
        clients[client] = StoredClient(row: row)
        clientCounts[user, default: 0] += 1
        sightings[client] = (now, SeenClient(client, at: now))
        return .registered(row)
    }

    func clients(of user: UserID, limits: StoreLimits) -> [RegisteredClient] {
        func rank(_ row: ClientRow) -> Int {
            row.settledThrough == 0 ? 0 : row.settledThrough == row.ackedThrough ? 1 : 2
        }
        let own = clients.values.map(\.row).filter { $0.user == user }.map { row in
            let sighting = sightings[row.id]
            let client = RegisteredClient(
                id: row.id, settledThrough: row.settledThrough, registered: sighting?.registered ?? 0,
                seen: sighting?.last.time ?? 0)
            return (rank: rank(row), client: client)
        }
        let sorted = own.sorted { one, other in
            (one.rank, one.client.seen, one.client.id) < (other.rank, other.client.seen, other.client.id)
        }
        return sorted.prefix(limits.clientsListedMax).map(\.client)
    }

    mutating func saw(_ seen: [SeenClient]) -> Set<ClientID> {
        let registered = seen.filter { clients[$0.client] != nil }
        for sighting in registered { sightings[sighting.client]?.last.merge(sighting) }
        return Set(registered.map(\.client))
    }

    mutating func remove(_ client: ClientID) {
        guard let row = clients.removeValue(forKey: client)?.row else { return }
        sightings[client] = nil
        clientCounts[row.user, default: 1] -= 1
    }

    func session(for user: UserID, client: ClientID?, holding seq: SequenceNumber?) -> SessionSnapshot {
        var snapshot = SessionSnapshot(head: head, lineage: seq.flatMap(batch(holding:)), horizon: horizon)
        if let client, let stored = clients[client], stored.row.user == user {
            snapshot.client = stored.row
            snapshot.results = stored.kept
        }
        snapshot.grants = (grants[user] ?? [:]).values.sorted {
            $0.since == $1.since ? $0.scope < $1.scope : $0.since > $1.since
        }
        return snapshot
    }

    mutating func follow(node: UInt64, now: Milliseconds, lifetime: Int64) -> Head {
        listeners.renew(node, now: now, lifetime: lifetime)
        return head
    }

    mutating func unfollow(node: UInt64) { listeners.remove(node) }
}
