import GRDB
import TidemarkLock
package import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Applies one frame; see the call for several.
    package func apply(
        _ changes: Changes, now: Milliseconds, noting note: (SyncLogEvent) -> Void = { _ in }
    ) throws {
        try apply([changes], now: now, noting: note)
    }

    /// Applies frames of the order as if each came alone, in one transaction: settled transactions, scopes, rows, the
    /// pending writes on top, the cursor.
    ///
    /// Until `confirm()`, or the next write of the app, a power cut may undo it: the server keeps the frames until they
    /// are acknowledged.
    ///
    /// - Parameters:
    ///   - now: the device's time, stored with what is parked.
    ///   - note: called after the commit with each decision.
    /// - Throws: `StoreError` with `cursorMismatch` when a frame does not continue the cursor before it, or
    ///   `clientForked` when it settles a number for a transaction of another database. Nothing is applied then.
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
                // SQLite reports no change of a table without rowids.
                try db.notifyChanges(in: Table("tidemark_meta"))
            }
            return step.events
        }
        cutLog(isNeeded: frames.contains { $0.grants.contains { $0.role == nil } })
        for event in events { note(event) }
    }
}

extension LocalDatabase {
    /// Returns the server time up to which the copy is complete with these frames; `nil` if it is incomplete. A frame
    /// carries the time of the newest change, which may be long ago, or never. At the welcome the copy had everything,
    /// so the later of both times is taken.
    func synced(by frames: [Changes]) -> Milliseconds? {
        frames.last { $0.isConsistent }.map { max($0.time, welcomedAt.current) }
    }
}

/// The frames of one transaction. Frames that only bring rows are written together. Any other frame is finished before
/// the next one begins, since its settlements and grants apply at that point of the order.
private struct FrameStep {
    private let database: LocalDatabase
    private let db: Database
    private let now: Milliseconds
    private let records: RecordTable
    private var rows: RowApplier?
    private var rebase: Rebase
    /// The scopes as the current frames found them.
    private var scopes: [ScopeID: (since: SequenceNumber, isFilling: Bool)?] = [:]
    /// The decisions, for the log.
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
        let groups = database.names.local(changes.groups)
        // Settlements come first: a transaction that was accepted before its scope was lost must not be parked. Then
        // scopes, since the frame's rows are filtered by the grants that hold after it (R-61).
        if let settled = changes.settled {
            let settlement = Settlement(
                db: db, memo: database.memo, bytesMax: database.limits.journalBytesMax, groups: groups)
            try settlement.settle(database.names.local(settled), now: now, rebase: &rebase)
        }
        if !changes.grants.isEmpty { try apply(changes.grants) }
        for group in groups {
            guard let held = try held(group.scope) else { continue }
            var applier = try rows ?? RowApplier(records, deletionsKept: database.limits.deletionsKept)
            // The only reference, so that writing to it copies nothing.
            rows = nil
            try applier.apply(group.changes, isFilling: held.isFilling, rebase: &rebase)
            rows = applier
        }
        if !hasOnlyRows { try finish() }
    }

    /// Writes the rows and settlements taken so far.
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

    /// Applies the last grant of each scope only: a scope that was lost and regained is filled anew without parking its
    /// pending writes.
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
