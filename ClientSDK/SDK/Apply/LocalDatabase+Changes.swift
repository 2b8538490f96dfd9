import GRDB
import TidemarkLock
package import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// The same for one frame.
    package func apply(
        _ changes: Changes, now: Milliseconds, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws {
        try apply([changes], now: now, noting: note)
    }

    /// Applies steps of the order whole, each as if it came alone, in one transaction: settled transactions, scopes, rows,
    /// what is pending on top, the cursor.
    ///
    /// Until `confirm()`, or the next write of the app, a power cut may take it back: the server has it as long as it was
    /// not acknowledged.
    ///
    /// - Parameters:
    ///   - now: the device's time, noted on what is parked.
    ///   - note: told after the commit what was decided.
    /// - Throws: `StoreError` with `cursorMismatch` when a frame does not continue the cursor before it, `clientForked`
    ///   when it settles a number for a transaction that is not this database's. Nothing is then applied.
    package func apply(
        _ frames: [Changes], now: Milliseconds, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws {
        let events = try change(isConfirmed: false) { db in
            var cursor = try Meta.cursor.text(db)
            var step = FrameStep(self, db, now: now)
            for changes in frames {
                guard cursor == changes.from else {
                    throw StoreError(
                        .cursorMismatch, "the frame continues \(changes.from), not \(cursor ?? "an empty copy")")
                }
                try step.take(changes)
                cursor = changes.cursor
            }
            try step.finish()
            try Awaiting(db: db).retry(self)
            if let safe = frames.last(where: { $0.durable != nil }) {
                try Journal(db: db).trim(through: safe.durable, before: safe.time - limits.journalLifetime)
            }
            guard let last = frames.last else { return step.events }
            try Meta.cursor.set(last.cursor, db)
            try notePast(last, of: frames.count, db)
            if let time = synced(by: frames) {
                try Meta.synced.set(time, db)
                // SQLite tells of no change to a table without rowids.
                try db.notifyChanges(in: Table("tidemark_meta"))
            }
            return step.events
        }
        cutLog(isNeeded: frames.contains { $0.grants.contains { $0.role == nil } })
        for event in events { note(event) }
    }
}

extension LocalDatabase {
    /// Server time up to which the copy is complete with these frames; `nil` where it is not. A frame says when the newest
    /// change was made, which may be long ago, or never: the copy has all that there was at the welcome.
    func synced(by frames: [Changes]) -> Milliseconds? {
        frames.last { $0.isConsistent }.map { max($0.time, welcomedAt.current) }
    }
}

/// Frames of one transaction. Those that only bring rows share what it takes to write them; any other is done with before
/// the next one begins, since what it settles and grants is of its moment.
private struct FrameStep {
    private let database: LocalDatabase
    private let db: Database
    private let now: Milliseconds
    private let records: RecordTable
    private var rows: RowApplier?
    private var rebase: Rebase
    /// Scopes as the frames at hand found them.
    private var scopes: [ScopeID: (since: SequenceNumber, isFilling: Bool)?] = [:]
    /// The decision, for the log.
    private(set) var events: [SyncLogEvent] = []

    init(_ database: LocalDatabase, _ db: Database, now: Milliseconds) {
        self.database = database
        self.db = db
        self.now = now
        records = RecordTable(db, database)
        rebase = Rebase(records: records)
    }

    mutating func take(_ changes: Changes) throws {
        let hasOnlyRows = changes.settled == nil && changes.grants.isEmpty
        if !hasOnlyRows { try finish() }
        // First what is settled: a transaction that was accepted before its scope was lost is not to be parked. Then
        // scopes, since the frame's rows are filtered by the grants as they stand after it (R-61).
        if let settled = changes.settled {
            let settlement = Settlement(
                db: db, memo: database.memo, bytesMax: database.limits.journalBytesMax,
                groups: database.names.local(changes.groups))
            try settlement.settle(database.names.local(settled), now: now, rebase: &rebase)
        }
        if !changes.grants.isEmpty { try apply(changes.grants) }
        for group in database.names.local(changes.groups) {
            guard let held = try held(group.scope) else { continue }
            var applier = try rows ?? RowApplier(records, deletionsKept: database.limits.deletionsKept)
            // Alone, so that writing to it copies nothing.
            rows = nil
            try applier.apply(group.changes, isFilling: held.isFilling, rebase: &rebase)
            rows = applier
        }
        if !hasOnlyRows { try finish() }
    }

    /// Writes what was taken.
    mutating func finish() throws {
        try rows?.finish()
        try rebase.finish()
        events += rebase.events
        (rows, rebase, scopes) = (nil, Rebase(records: records), [:])
    }

    private mutating func held(_ scope: ScopeID) throws -> (since: SequenceNumber, isFilling: Bool)? {
        if let known = scopes[scope] { return known }
        let held = try ScopeTable(db: db).held(scope)
        scopes[scope] = .some(held)
        return held
    }

    /// Only the last word on each scope counts: what was lost and regained is filled anew without parking what is pending.
    private mutating func apply(_ grants: [Changes.GrantChange]) throws {
        let scopes = ScopeChange(database, db, now: now)
        var last: [ScopeID: Int] = [:]
        for (index, grant) in grants.enumerated() { last[grant.scope] = index }
        for (index, grant) in grants.enumerated() where last[grant.scope] == index {
            if let role = grant.role {
                try scopes.gain(grant.scope, since: grant.since, role: role)
            } else {
                try scopes.lose(grant.scope, rebase: &rebase)
            }
        }
    }
}
