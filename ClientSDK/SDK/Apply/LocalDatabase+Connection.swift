import GRDB
import TidemarkModel
package import TidemarkWire

extension LocalDatabase {
    /// Opens a connection's account: counts it durably and says where this copy stands.
    package func beginConnection() throws -> ConnectionStart {
        try change { db in
            let connection = try (Meta.connection.integer(db) ?? 0) + 1
            try Meta.connection.set(connection, db)
            guard let client = try Meta.client.text(db).flatMap({ UniqueID($0) }) else {
                throw StoreError(.corrupt, "the database has no client id")
            }
            return ConnectionStart(
                client: client, isNewClient: try Meta.registered.integer(db) != 1, connection: connection,
                cursor: try Meta.cursor.text(db), scopes: try ScopeTable(db: db).all(),
                ackedThrough: try Meta.ackedThrough.integer(db) ?? 0,
                owner: StoreOwner(account: account, schema: schema.name))
        }
    }

    /// Takes the server's answer to `hello`: drops what is no longer granted, notes what is to be filled.
    ///
    /// Nothing is settled by it: a number counts as settled only with the rows that it wrote.
    ///
    /// - Parameter note: told after the commit what was decided.
    /// - Throws: `StoreError` with `clientForked` or `serverForgot` when server and database disagree about which numbers
    ///   were used: take another identity with `fork(newClient:)` and connect again. Nothing is then changed.
    package func welcomed(_ welcome: Welcome, noting note: (SyncLogEvent) -> Void = { _ in }) throws {
        var told = modelLimits
        let (model, messageBytes) = (welcome.limits.model, welcome.limits.messageBytesMax)
        // Something can be written whatever a server says; and what is larger than a message could not be sent.
        told.recordBytesMax = max(1, model.recordBytesMax)
        told.transactionBytesMax = max(1, min(model.transactionBytesMax, messageBytes - 1_024))
        told.mutationsMax = max(1, model.mutationsMax)
        let events = try change { [told] db in
            let acked = try Meta.ackedThrough.integer(db) ?? 0
            let last = try OutboxCounts(db).number
            guard welcome.settledThrough <= last else {
                throw StoreError(
                    .clientForked,
                    "the server settled \(welcome.settledThrough) transactions of this client, and \(last) were written"
                )
            }
            let scopes = ScopeChange(self, db, now: welcome.now)
            let records = RecordTable(db, self)
            var rebase = Rebase(records: records)
            if welcome.settledThrough < acked {
                // First, while what is shown still has what the server lost.
                _ = try Reoffering(records, account: account, now: welcome.now).reoffer(
                    above: welcome.settledThrough, rebase: &rebase)
            }
            if welcome.cursorState == .resync { try scopes.refillAll() }
            let gained = Set(welcome.added.map(\.scope))
            for scope in welcome.purged where !gained.contains(scope) { try scopes.lose(scope, rebase: &rebase) }
            for grant in welcome.added {
                try scopes.gain(grant.scope, since: grant.since, role: grant.role ?? .member)
            }
            if try welcome.cursorState != .ok || Meta.cursor.text(db) == nil { try Meta.cursor.set(welcome.cursor, db) }
            try Meta.registered.set(1, db)
            try Meta.epoch.set(welcome.epoch, db)
            try told.remember(db)
            try rebase.finish()
            return rebase.events
        }
        tell(told)
        cutLog(isNeeded: !welcome.purged.isEmpty)
        for event in events { note(event) }
    }
}
