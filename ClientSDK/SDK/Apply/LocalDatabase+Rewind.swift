import Foundation
import GRDB
import TidemarkModel
import TidemarkWire

extension Welcome {
    /// Returns true when the server's database went back behind the state of this copy, judged by the number settled
    /// for this client, or by the epoch.
    func tellsOfLoss(_ db: Database) throws -> Bool {
        if try settledThrough < Meta.ackedThrough.integer(db) ?? 0 { return true }
        let known = try Meta.epoch.integer(db) ?? epoch
        guard try cursorState != .ok && Meta.cursor.text(db) != nil else { return false }
        if cursorState != .behind, epoch > known { return true }
        // Below the horizon, or before a server has noticed, the loss is unknown, except that a client was registered
        // in it.
        return try Meta.registered.integer(db) != 1 && Meta.formerPast.integer(db) ?? 0 > 0
    }
}

extension LocalDatabase {
    /// Moves this device's lost writes back into the outbox, and keeps lost records of others while they are still
    /// shown. It comes before the rest of the welcome.
    ///
    /// - Returns: the event for the app; `nil` if nothing was lost.
    func takeLoss(of welcome: Welcome, _ db: Database, rebase: inout Rebase) throws -> SyncLogEvent? {
        let records = RecordTable(db, self)
        let from = try highestNumber(db)
        let reoffering = Reoffering(records, account: account, now: welcome.now, lostFrom: welcome.lost)
        var counts = LossCounts()
        try Meta.rewoundWritten.set(OutboxCounts(db).written, db)
        if try welcome.settledThrough < Meta.ackedThrough.integer(db) ?? 0 {
            (counts.resent, counts.missing) = try reoffering.reoffer(above: welcome.settledThrough, rebase: &rebase)
        }
        let oldest = welcome.now - limits.journalLifetime
        guard let first = welcome.lost else {
            let former = try Journal(db: db).former(from: .max, end: 0, after: oldest)
            counts.resent += try reoffering.reoffer(former: former, rebase: &rebase)
            return counts == LossCounts() ? nil : .serverWentBack(from: from, to: nil, counts)
        }
        try parkUnknown(from: first, through: welcome.settledThrough, at: welcome.now, db, rebase: &rebase)
        let end = try welcome.rewind.flatMap { try PastCursors(db: db).number(of: $0.end) } ?? 0
        let former = try Journal(db: db).former(from: first, end: end, after: oldest)
        counts.resent += try reoffering.reoffer(former: former, rebase: &rebase)
        var withdrawn: Set<ScopeID> = []
        let regained = Set(welcome.added.map(\.scope))
        for scope in welcome.purged where !regained.contains(scope) {
            if let held = try ScopeTable(db: db).held(scope), held.since >= first { continue }
            withdrawn.insert(scope)
        }
        counts.lostRecords = try Rescue(records: records, bytesMax: limits.rescueBytesMax)
            .keep(from: first, besides: withdrawn, at: welcome.now)
        return .serverWentBack(from: from, to: first - 1, counts)
    }

    /// Parks own transactions that were lost, and whose numbers the server has settled since: a late copy of a push
    /// reached it. Their outcomes were sent to no device, and they cannot be offered again under settled numbers: the
    /// app decides.
    private func parkUnknown(
        from first: SequenceNumber, through number: Int64, at now: Milliseconds, _ db: Database, rebase: inout Rebase
    ) throws {
        let rejection = Rejection(
            .conflict, "the server's database went back, and the outcome of this write since then is unknown")
        for entry in try Journal(db: db).entries(through: number, lostFrom: first) {
            for key in try Parking(db: db).park(entry, rejection, at: now) { rebase.touch(key) }
            rebase.note(
                .rejected(
                    transaction: UUID(entry.id), rejection: rejection, LoggedWrites(try entry.transaction().mutations)))
            _ = try Journal(db: db).refuse(entry)
        }
    }

    private func highestNumber(_ db: Database) throws -> SequenceNumber {
        try tables.values.map { table in
            try db.first("SELECT max(seq) FROM \(table.quotedName)")?.optionalInteger(0) ?? 0
        }.max() ?? 0
    }
}
