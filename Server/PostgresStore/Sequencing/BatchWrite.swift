import TidemarkModel
import TidemarkPostgres
import TidemarkStore

/// The statements that write one batch. COMMIT can be sent right behind them: anything that must not happen fails them.
/// The first one compares the stored order with the one that the batch was planned on.
struct BatchWrite {
    private(set) var statements: [Statement] = []

    /// - Parameters:
    ///   - node: this node.
    ///   - keepsBody: true when another node needs the body, or it is kept for operators.
    init(_ planned: PlannedBatch, workspace: WorkspaceID, node: UInt64, limits: StoreLimits, keepsBody: Bool) {
        let batch = planned.batch
        writeBatch(planned, keepsBody ? BatchBody.encode(batch) : nil, workspace, node)
        write(
            batch.records.filter { !planned.existing.contains($0.key) }, SequencingSQL.insertRecords, workspace)
        if !planned.existing.isEmpty {
            write(batch.records.filter { planned.existing.contains($0.key) }, SequencingSQL.upsertRecords, workspace)
        }
        write(MembershipFold(batch.memberships), workspace)
        write(planned.clients, workspace)
        statements += batch.removals.map { client in
            Statement(SequencingSQL.removeClient, workspace) { $0.add(client) }
        }
        statements += Self.ledger(batch.ledger, workspace, limits: limits)
        // Earlier batches dropped bodies behind their own heads; this one drops those that it has pushed out of the
        // span.
        let gone = limits.bodiesGoneThrough(head: batch.head.seq)
        guard keepsBody, gone > 0 else { return }
        statements.append(
            Statement(SequencingSQL.dropBodies, workspace) {
                $0.add(limits.bodiesGoneThrough(head: batch.low - 1))
                $0.add(gone)
            })
    }

    private mutating func writeBatch(
        _ planned: PlannedBatch, _ body: [UInt8]?, _ workspace: WorkspaceID, _ node: UInt64
    ) {
        let batch = planned.batch
        statements.append(
            Statement(SequencingSQL.insertBatch, workspace) {
                $0.add(batch.head.seq)
                $0.add(batch.low)
                $0.add(Int64(bitPattern: batch.head.nonce))
                $0.add(batch.head.time)
                $0.add(batch.head.epoch)
                if let body { $0.add(utf8: body) } else { $0.addNull() }
                $0.add(planned.base.seq)
                $0.add(Int64(bitPattern: planned.base.nonce))
                if let heard = planned.heard { $0.add(heard) } else { $0.addNull() }
                $0.add(Int64(bitPattern: node))
            })
    }

    private mutating func write(
        _ records: [StoredRecord], _ sql: PreparedStatement, _ workspace: WorkspaceID
    ) {
        guard !records.isEmpty else { return }
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
                $0.addTextArray(utf8: records.map { $0.isDeleted ? nil : $0.body })
                $0.addTextArray(utf8: records.map { $0.isDeleted && !$0.buried.isEmpty ? $0.buried : nil })
            })
    }

    private mutating func write(_ memberships: MembershipFold, _ workspace: WorkspaceID) {
        if !memberships.past.isEmpty {
            statements.append(
                Statement(OperatingSQL.keepEnded, workspace) {
                    $0.add(memberships.past.map(\.seat.user.text))
                    $0.add(memberships.past.map(\.seat.scope.text))
                    $0.add(memberships.past.map(\.seq))
                })
        }
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

    private mutating func write(_ clients: [StoredClient], _ workspace: WorkspaceID) {
        guard !clients.isEmpty else { return }
        statements.append(
            Statement(SequencingSQL.updateClients, workspace) {
                $0.add(clients.map(\.row.id))
                $0.add(clients.map(\.row.user.text))
                $0.add(clients.map(\.row.settledThrough))
                $0.add(clients.map(\.row.ackedThrough))
                $0.add(clients.map(\.row.connection))
                $0.addTextArray(utf8: clients.map(\.keptBytes))
            })
    }
}

extension StoreLimits {
    /// Whether a node that was last heard at `heard` is still listening at `time`.
    func isHeard(_ heard: Milliseconds?, at time: Milliseconds) -> Bool {
        guard let heard else { return false }
        let (lapse, overflows) = heard.addingReportingOverflow(followLifetime)
        return overflows || lapse > time
    }
}

/// The net changes of one batch's memberships, one for each seat: a statement can change a row only once.
struct MembershipFold {
    struct Member {
        var seat: Seat
        var role: Role
        /// The number at which it begins; for a changed one, the number to use if the store has none.
        var since: SequenceNumber
    }

    struct Ended {
        var seat: Seat
        /// The number that ends it.
        var seq: SequenceNumber
    }

    /// Memberships that begin, whatever was before.
    private(set) var begun: [Member] = []
    /// Memberships that get another role and keep their stored beginning.
    private(set) var changed: [Member] = []
    private(set) var ended: [Seat] = []
    /// Stored memberships that ended, whether they begin again or not.
    private(set) var past: [Ended] = []

    private enum Fate {
        case begun(Role, SequenceNumber)
        case changed(Role, SequenceNumber)
        case ended
    }

    init(_ changes: [MembershipChange]) {
        var order: [Seat] = []
        var fates: [Seat: Fate] = [:]
        for change in changes {
            let seat = Seat(user: change.user, scope: change.scope)
            let before = fates.updateValue(.ended, forKey: seat)
            if before == nil { order.append(seat) }
            if change.role == nil, Self.isStored(before) { past.append(Ended(seat: seat, seq: change.seq)) }
            if let role = change.role { fates[seat] = Self.fate(change, role, after: before) }
        }
        for seat in order {
            switch fates[seat] {
            case .begun(let role, let since): begun.append(Member(seat: seat, role: role, since: since))
            case .changed(let role, let since): changed.append(Member(seat: seat, role: role, since: since))
            case .ended: ended.append(seat)
            case nil: break
            }
        }
    }

    /// Whether the seat is still as stored: the batch has neither begun nor ended it so far.
    private static func isStored(_ before: Fate?) -> Bool {
        switch before {
        case nil, .changed: true
        case .begun, .ended: false
        }
    }

    private static func fate(_ change: MembershipChange, _ role: Role, after before: Fate?) -> Fate {
        if let since = change.since { return .begun(role, since) }
        return switch before {
        case nil: .changed(role, change.begins)
        case .begun(_, let since): .begun(role, since)
        case .changed(_, let since): .changed(role, since)
        case .ended: .begun(role, change.begins)
        }
    }
}

extension BatchWrite {
    /// The statements for values that the batch overwrote unseen; none for the many batches that did not.
    static func ledger(_ ledger: [LedgerEntry], _ workspace: WorkspaceID, limits: StoreLimits) -> [Statement] {
        guard !ledger.isEmpty else { return [] }
        var statements = [
            Statement(LedgerSQL.insert, workspace) {
                $0.add(ledger.map(\.key.collection))
                $0.add(ledger.map(\.key.id))
                $0.add(ledger.map(\.scope.text))
                $0.add(ledger.map(\.seq))
                $0.add(ledger.map(\.value.field))
                $0.add(ledger.map(\.value.rule.rawValue))
                $0.addTextArray(ledger.map { $0.value.old?.json })
                $0.addTextArray(ledger.map { $0.value.new?.json })
                $0.addTextArray(ledger.map { $0.oldAuthor?.text })
                $0.add(ledger.map(\.author.text))
                $0.add(ledger.map(\.client))
                $0.addTextArray(ledger.map(\.app))
                $0.add(ledger.map(\.time))
                $0.add(ledger.map { Int64($0.octets) })
            }
        ]
        for key in Set(ledger.map(\.key)).sorted() {
            statements.append(
                Statement(LedgerSQL.trim, workspace) {
                    $0.add(text: key.collection)
                    $0.add(key.id)
                    $0.add(Int64(limits.ledgerEntriesMax))
                    $0.add(Int64(limits.ledgerBytesMax))
                })
        }
        return statements
    }
}
