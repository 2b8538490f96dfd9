import Foundation
import GRDB
import TidemarkModel

/// Reads diagnostics from a local database of any schema.
struct DiagnosticsReader {
    let db: Database

    func read() throws -> Diagnostics {
        guard let account = try Meta.account.text(db), let client = try Meta.client.text(db) else {
            throw StoreError(.corrupt, "the file has no account: it is not a Tidemark database, or was never opened")
        }
        return Diagnostics(
            account: account, client: client, isRegistered: try Meta.registered.integer(db) == 1,
            hasCursor: try Meta.cursor.text(db) != nil, lastNumber: try OutboxCounts(db).number,
            acknowledgedThrough: try Meta.ackedThrough.integer(db) ?? 0,
            schemaVersion: try Meta.schemaVersion.integer(db) ?? 0, format: try Meta.format.integer(db) ?? 0,
            databaseBytes: try bytes(), outbox: try outbox(), journal: try journal(), rescued: try rescued(),
            parked: try parked(), scopes: try scopes(),
            scopesLeftOut: try Meta.scopesLeftOut.integer(db).flatMap { $0 > 0 ? $0 : nil },
            collections: try collectionNames().map(collection), blobs: try blobs(), undecodable: [],
            unindexed: [], comparison: try comparison(), damage: try damage())
    }

    private func comparison() throws -> Diagnostics.Comparison? {
        guard let records = try Meta.comparedRecords.integer(db), let began = try Meta.compared.integer(db) else {
            return nil
        }
        return Diagnostics.Comparison(
            began: Date(milliseconds: began),
            ranges: try db.first("SELECT count(*) FROM tidemark_compare")?.integer(0) ?? 0, records: records,
            differences: try Meta.differences.integer(db) ?? 0)
    }

    private func damage() throws -> Diagnostics.Damage? {
        guard let stored = try Meta.recovery.text(db) else { return nil }
        return try JSONDecoder().decode(Diagnostics.Damage.self, from: Data(stored.utf8))
    }

    /// Returns the names of the collections that have tables in the file.
    func collectionNames() throws -> [String] {
        try db.all("SELECT DISTINCT collection FROM tidemark_field ORDER BY collection").map { try $0.text(0) }
    }

    private func bytes() throws -> Int64 {
        let pages = try db.first("PRAGMA page_count")?.integer(0) ?? 0
        return pages * (try db.first("PRAGMA page_size")?.integer(0) ?? 0)
    }

    private func journal() throws -> Diagnostics.JournalState {
        guard
            let row = try db.first(
                "SELECT count(*), min(settled) FROM tidemark_outbox WHERE state IN ('settled', 'refused')")
        else { return Diagnostics.JournalState(transactions: 0, bytes: 0) }
        return Diagnostics.JournalState(
            transactions: try row.integer(0), bytes: try Meta.journalBytes.integer(db) ?? 0,
            oldest: try row.optionalInteger(1).map { Date(milliseconds: $0) })
    }

    private func rescued() throws -> Int64 {
        try db.first("SELECT count(*) FROM tidemark_rescue")?.integer(0) ?? 0
    }

    private func outbox() throws -> [Diagnostics.QueuedWrite] {
        let sql = """
            SELECT n, id, state, created, attempts, last_error, body, attempted
            FROM tidemark_outbox WHERE state NOT IN ('settled', 'refused') ORDER BY n
            """
        return try db.all(sql).map { row in
            Diagnostics.QueuedWrite(
                number: try row.integer(0), id: try row.text(1), state: try row.text(2),
                created: Date(milliseconds: try row.integer(3)), attempts: try row.integer(4),
                lastAttempt: try row.optionalInteger(7).map { Date(milliseconds: $0) },
                lastError: try row.optionalText(5), actions: try actions(row.text(6)))
        }
    }

    private func parked() throws -> [Diagnostics.ParkedWrite] {
        try db.all("SELECT id, code, message, parked, body FROM tidemark_parked ORDER BY parked, id").map { row in
            Diagnostics.ParkedWrite(
                id: try row.text(0), code: try row.text(1), message: try row.text(2),
                parked: Date(milliseconds: try row.integer(3)), actions: try actions(row.text(4)))
        }
    }

    private func blobs() throws -> Diagnostics.BlobState {
        let table = BlobTable(db: db)
        let held = try db.first("SELECT count(*) FROM tidemark_blob WHERE state = 'held'")?.integer(0) ?? 0
        return Diagnostics.BlobState(
            held: held, heldBytes: try table.bytes(in: .held),
            unsent: try table.unsent().map { blob in
                Diagnostics.BlobState.Unsent(
                    digest: String(blob.digest.text.prefix(12)), scope: blob.scope.text, bytes: Int64(blob.byteCount),
                    since: blob.addedAt, attempts: Int64(blob.attempts), failure: blob.failure?.rawValue,
                    lastError: blob.lastError)
            })
    }

    private func actions(_ body: String) throws -> [String] {
        try OutboxEntry.transaction(body).mutations.map { "\($0.verb) \($0.key)" }
    }

    private func scopes() throws -> [Diagnostics.ScopeState] {
        try db.all("SELECT scope, since, role, is_complete FROM tidemark_scope ORDER BY scope").map { row in
            let scope = try row.text(0)
            let filling = """
                SELECT collection, floor FROM tidemark_scope_page
                WHERE scope = ? AND is_complete = 0
                ORDER BY position
                """
            return Diagnostics.ScopeState(
                scope: scope, since: try row.integer(1), role: try row.text(2), isComplete: try row.integer(3) != 0,
                filling: try db.all(filling, [scope]).map {
                    Diagnostics.Filling(collection: try $0.text(0), floor: try $0.optionalInteger(1))
                })
        }
    }

    private func collection(_ name: String) throws -> Diagnostics.CollectionState {
        let sql = """
            SELECT count(*), count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'failed'),
                coalesce(max(seq), 0)
            FROM \(CollectionTable.quoted(name))
            """
        guard let row = try db.first(sql) else { throw StoreError(.corrupt, "\(name): the table cannot be counted") }
        return Diagnostics.CollectionState(
            name: name, rows: try row.integer(0), pending: try row.integer(1), failed: try row.integer(2),
            newest: try row.integer(3))
    }
}

extension Mutation {
    /// The kind of the write, in one word.
    var verb: String {
        switch action {
        case .create: "create"
        case .update: "update"
        case .delete: "delete"
        case .undelete: "undelete"
        }
    }
}

extension Date {
    init(milliseconds: Milliseconds) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
