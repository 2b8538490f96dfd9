import GRDB
import TidemarkModel
import TidemarkWire

extension Welcome {
    /// True when the server's database went back since this copy stood where it stands: what the server knows of this client,
    /// or the epoch, says so.
    func tellsOfLoss(_ db: Database) throws -> Bool {
        if try settledThrough < Meta.ackedThrough.integer(db) ?? 0 { return true }
        let known = try Meta.epoch.integer(db) ?? epoch
        return try cursorState != .ok && cursorState != .behind && epoch > known && Meta.cursor.text(db) != nil
    }
}

extension LocalDatabase {
    /// Puts own lost writes back into the outbox and keeps the lost ones of others, while what is shown still has them: before
    /// anything else of the welcome is applied.
    ///
    /// - Returns: what the app is to know; `nil` where nothing of it was lost.
    func takeLoss(of welcome: Welcome, _ db: Database, rebase: inout Rebase) throws -> SyncLogEvent? {
        let records = RecordTable(db, self)
        let from = try highestNumber(db)
        let reoffering = Reoffering(records, account: account, now: welcome.now)
        var counts = RewindCounts()
        try Meta.rewoundWritten.set(OutboxCounts(db).written, db)
        if try welcome.settledThrough < Meta.ackedThrough.integer(db) ?? 0 {
            (counts.reoffered, counts.missing) = try reoffering.reoffer(above: welcome.settledThrough, rebase: &rebase)
        }
        guard let first = welcome.lost else {
            return counts == RewindCounts() ? nil : .rewound(from: from, to: nil, counts)
        }
        let end = try welcome.rewind.flatMap { try PastCursors(db: db).number(of: $0.end) } ?? 0
        let former = try Journal(db: db)
            .former(from: first, end: end, after: welcome.now - limits.journalLifetime)
        counts.reoffered += try reoffering.reoffer(former: former, rebase: &rebase)
        var withdrawn: Set<ScopeID> = []
        let regained = Set(welcome.added.map(\.scope))
        for scope in welcome.purged where !regained.contains(scope) {
            if let held = try ScopeTable(db: db).held(scope), held.since >= first { continue }
            withdrawn.insert(scope)
        }
        counts.rescued = try Rescue(records: records, bytesMax: limits.rescueBytesMax)
            .keep(from: first, besides: withdrawn, at: welcome.now)
        return .rewound(from: from, to: first - 1, counts)
    }

    private func highestNumber(_ db: Database) throws -> SequenceNumber {
        try tables.values.map { table in
            try db.first("SELECT max(seq) FROM \(table.quotedName)")?.optionalInteger(0) ?? 0
        }.max() ?? 0
    }
}
