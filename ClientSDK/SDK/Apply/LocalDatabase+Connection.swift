import GRDB
import TidemarkLock
import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Begins a connection: counts it durably and returns the state of this copy.
    package func beginConnection() throws -> ConnectionStart {
        try change { db in
            let connection = try (Meta.connection.integer(db) ?? 0) + 1
            try Meta.connection.set(connection, db)
            guard let client = try Meta.client.text(db).flatMap({ UniqueID($0) }) else {
                throw StoreError(.corrupt, "the database has no client id")
            }
            let holdings = try ScopeTable(db: db).holdings()
            var digests: ScopeDigests?
            if holdings.count > limits.scopesListedMax {
                var held = ScopeDigests(suiting: holdings.count, inEach: limits.scopesInPart)
                for (scope, role) in holdings { held.insert(scope.scope, since: scope.since, role: role) }
                digests = held
            }
            return ConnectionStart(
                client: client, isNewClient: try Meta.registered.integer(db) != 1, connection: connection,
                cursor: try Meta.cursor.text(db), scopes: holdings.map(\.scope),
                ackedThrough: try Meta.ackedThrough.integer(db) ?? 0,
                owner: StoreOwner(account: account, schema: schema.name), ends: try PastCursors(db: db).newestFirst(),
                roles: holdings.map(\.role), digests: digests, isBehind: try ComparisonTable(db: db).isFilling,
                written: try OutboxCounts(db).number + OutboxTable(db: db).waitingCount())
        }
    }

    /// Applies the server's answer to `hello`: drops scopes that are no longer granted, and notes what has to be
    /// filled.
    ///
    /// It settles nothing: a number is settled only together with the rows that it wrote.
    ///
    /// - Parameter note: called after the commit with each decision.
    /// - Throws: `StoreError` with `clientForked` or `serverForgot` when server and database disagree about the numbers
    ///   used. Take another identity with `fork(newClient:)` and connect again. Nothing is changed then, except for a
    ///   note of the loss.
    package func welcomed(_ welcome: Welcome, noting note: (SyncLogEvent) -> Void = { _ in }) throws {
        do {
            try take(welcome, noting: note)
        } catch let error as StoreError where error.code == .serverForgot {
            // The server's number for this client id is noted now: the id is not used again.
            try change { db in try Meta.lostAbove.set(welcome.settledThrough, db) }
            throw error
        }
    }

    private func take(_ welcome: Welcome, noting note: (SyncLogEvent) -> Void) throws {
        var serverLimits = modelLimits
        let (model, messageBytes) = (welcome.limits.model, welcome.limits.messageBytesMax)
        // At least one record must be writable whatever the server's limits are, and no transaction may exceed a
        // message.
        serverLimits.recordBytesMax = max(1, model.recordBytesMax)
        serverLimits.transactionBytesMax = max(1, min(model.transactionBytesMax, messageBytes - 1_024))
        serverLimits.mutationsMax = max(1, model.mutationsMax)
        var hasLost = false
        let events = try change { [serverLimits] db in
            let welcome = try resolve(welcome, db)
            hasLost = !welcome.purged.isEmpty
            let last = try OutboxCounts(db).number
            guard welcome.settledThrough <= last else {
                throw StoreError(
                    .clientForked,
                    "the server settled \(welcome.settledThrough) transactions of this client, and \(last) were written"
                )
            }
            var rebase = Rebase(records: RecordTable(db, self))
            let scopes = ScopeChange(self, db, now: welcome.now)
            // Before the lost records change.
            let wentBack = try welcome.tellsOfLoss(db)
            if wentBack, let event = try takeLoss(of: welcome, db, rebase: &rebase) { rebase.note(event) }
            try goBack(welcome, scopes, db, rebase: &rebase)
            let (gained, granted) = (Set(welcome.added.map(\.scope)), Set(welcome.notFitting))
            for scope in welcome.purged where !gained.contains(scope) {
                try scopes.lose(
                    scope, wentBack: wentBack, isGranted: granted.contains(scope), rebase: &rebase)
            }
            // The number of a grant of the lost history identifies nothing.
            let anew = welcome.cursorState == .rewound ? Set(welcome.purged) : []
            for grant in welcome.added {
                try scopes.gain(
                    grant.scope, since: grant.since, role: grant.role ?? .member, isAnew: anew.contains(grant.scope))
            }
            for grant in welcome.roles where try ScopeTable(db: db).since(grant.scope) == grant.since {
                if let role = grant.role { try ScopeTable(db: db).setRole(role, grant.scope) }
            }
            if let event = try noteLeftOut(welcome, db) { rebase.note(event) }
            try Awaiting(db: db).expire(before: welcome.now - limits.journalLifetime)
            try Journal(db: db).trim(through: welcome.durable, before: welcome.now - limits.journalLifetime)
            if try welcome.cursorState != .ok || Meta.cursor.text(db) == nil { try Meta.cursor.set(welcome.cursor, db) }
            let isNew = try Meta.registered.integer(db) != 1
            if isNew || wentBack || welcome.cursorState != .ok { try Journal(db: db).notePast(isNew: isNew) }
            try Meta.registered.set(1, db)
            try Meta.epoch.set(welcome.epoch, db)
            try serverLimits.remember(db)
            try rebase.finish()
            return rebase.events
        }
        setServerLimits(serverLimits)
        welcomedAt.set(welcome.now)
        cutLog(isNeeded: hasLost)
        for event in events { note(event) }
    }

    /// Returns the welcome for this device's scopes, if the server was sent digests of them.
    private func resolve(_ welcome: Welcome, _ db: Database) throws -> Welcome {
        guard welcome.parts != nil else { return welcome }
        return welcome.resolved(for: try ScopeTable(db: db).holdings())
    }

    /// Returns the same for callers that need it before it is applied.
    package func resolved(_ welcome: Welcome) throws -> Welcome { try writer.read { try resolve(welcome, $0) } }

    /// Returns the event only when the number has changed.
    private func noteLeftOut(_ welcome: Welcome, _ db: Database) throws -> SyncLogEvent? {
        let left = Int64(welcome.leftOut)
        guard try left != Meta.scopesLeftOut.integer(db) ?? 0 else { return nil }
        try Meta.scopesLeftOut.set(left, db)
        return left == 0
            ? nil : .scopesLeftOut(held: welcome.kept.count + welcome.added.count, leftOut: welcome.leftOut)
    }

    /// Removes what the server's order does not have, or has everything filled again. The whole copy is filled again if
    /// the server knows no cursor common to both.
    private func goBack(
        _ welcome: Welcome, _ scopes: ScopeChange, _ db: Database, rebase: inout Rebase
    ) throws {
        switch welcome.cursorState {
        case .ok, .none: break
        case .resync: try scopes.refillAll()
        case .behind: try CopyFilling(self, db).begin(now: welcome.now)
        case .rewound:
            guard let rewind = welcome.rewind else { return try scopes.refillAll() }
            let tail = try TailReplacement(self, db, to: rewind.to, now: welcome.now)
            if try !tail.run(end: rewind.end, rebase: &rebase) { try scopes.refillAll() }
        }
    }
}
