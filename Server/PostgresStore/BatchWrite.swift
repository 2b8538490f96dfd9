import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// The statements that write one batch, behind which COMMIT can follow unseen: whatever must not happen fails them.
struct BatchWrite {
    private(set) var statements: [Statement] = []

    /// - Parameters:
    ///   - absent: keys that the store was found not to have, under the lock.
    ///   - stored: the rows of the clients that the batch settles, read under the lock.
    ///   - isHeard: another node needs the body.
    /// - Throws: `StoreError` of kind `invariant` for a client that is not there, `data` for a body that is not UTF-8.
    init(
        batch: CommittedBatch, workspace: WorkspaceID, absent: Set<RecordKey>, stored: [ClientID: ClientRow],
        limits: StoreLimits, isHeard: Bool
    ) throws(StoreError) {
        try write(batch.records.filter { absent.contains($0.key) }, SequencingSQL.insertRecords, workspace)
        try write(batch.records.filter { !absent.contains($0.key) }, SequencingSQL.upsertRecords, workspace)
        write(MembershipFold(batch.memberships), workspace)
        try write(batch.settlements, stored, workspace)
        let body = isHeard ? try Self.text(BatchBody.encode(batch)) : nil
        statements.append(
            Statement(SequencingSQL.insertBatch, workspace) {
                $0.add(batch.head.seq)
                $0.add(batch.low)
                $0.add(Int64(bitPattern: batch.head.nonce))
                $0.add(batch.head.time)
                $0.add(batch.head.epoch)
                if let body { $0.add(text: body) } else { $0.addNull() }
            })
        // Earlier batches dropped what lay behind their own heads; this one drops what it has pushed out of the span.
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        guard isHeard, gone > 0 else { return }
        statements.append(
            Statement(SequencingSQL.dropBodies, workspace) {
                $0.add(limits.bodiesGoneThrough(head: batch.low - 1))
                $0.add(gone)
            })
    }

    private static func text(_ bytes: [UInt8]) throws(StoreError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw StoreError(.data, "a body is not UTF-8")
        }
        return text
    }

    private mutating func write(
        _ records: [StoredRecord], _ sql: PreparedStatement, _ workspace: WorkspaceID
    ) throws(StoreError) {
        guard !records.isEmpty else { return }
        var bodies: [String?] = []
        bodies.reserveCapacity(records.count)
        for record in records { bodies.append(record.isDeleted ? nil : try Self.text(record.body)) }
        statements.append(
            Statement(sql, workspace) {
                $0.add(records.map(\.key.collection))
                $0.add(records.map(\.key.id))
                $0.add(records.map(\.scope.text))
                $0.add(records.map(\.seq))
                $0.add(records.map(\.born))
                $0.add(records.map(\.author.text))
                $0.add(records.map(\.created))
                $0.add(records.map(\.updated))
                $0.addTextArray(bodies)
            })
    }

    private mutating func write(_ memberships: MembershipFold, _ workspace: WorkspaceID) {
        if !memberships.ended.isEmpty {
            statements.append(
                Statement(SequencingSQL.endMembers, workspace) {
                    $0.add(memberships.ended.map(\.user.text))
                    $0.add(memberships.ended.map(\.scope.text))
                })
        }
        for (sql, members) in [
            (SequencingSQL.beginMembers, memberships.begun), (SequencingSQL.changeMembers, memberships.changed),
        ] where !members.isEmpty {
            statements.append(
                Statement(sql, workspace) {
                    $0.add(members.map(\.seat.user.text))
                    $0.add(members.map(\.seat.scope.text))
                    $0.add(members.map(\.role.rawValue))
                    $0.add(members.map(\.since))
                })
        }
    }

    private mutating func write(
        _ settlements: [Settlement], _ stored: [ClientID: ClientRow], _ workspace: WorkspaceID
    ) throws(StoreError) {
        guard !settlements.isEmpty else { return }
        for settlement in settlements {
            guard let stored = stored[settlement.client.id], stored.user == settlement.client.user,
                stored.settledThrough <= settlement.settledBeforeMax
            else { throw StoreError(.invariant, "only a registered client can be settled, each number once") }
        }
        statements.append(
            Statement(SequencingSQL.updateClients, workspace) {
                $0.add(settlements.map(\.client.id))
                $0.add(settlements.map(\.client.user.text))
                $0.add(settlements.map(\.client.settledThrough))
                $0.add(settlements.map(\.client.ackedThrough))
                $0.add(settlements.map(\.client.connection))
            })
        let acks = settlements.map { (client: $0.client, above: stored[$0.client.id]?.ackedThrough ?? 0) }
            .filter { $0.client.ackedThrough > $0.above }
        if !acks.isEmpty {
            statements.append(
                Statement(SequencingSQL.dropResults, workspace) {
                    $0.add(acks.map(\.client.id))
                    $0.add(acks.map(\.above))
                    $0.add(acks.map(\.client.ackedThrough))
                })
        }
        let results = settlements.flatMap { settlement in
            settlement.results.filter { $0.number > settlement.client.ackedThrough }
        }
        guard !results.isEmpty else { return }
        statements.append(
            Statement(SequencingSQL.insertResults, workspace) {
                $0.add(results.map(\.client))
                $0.add(results.map(\.number))
                $0.add(results.map(\.transaction))
                $0.add(results.map(\.seq))
                $0.add(results.map(\.time))
                $0.addTextArray(results.map { $0.rejection?.code.rawValue })
                $0.addTextArray(results.map { $0.rejection?.message })
            })
    }
}
