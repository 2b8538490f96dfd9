import GRDB
import TidemarkModel

/// Reads from a damaged file the data that exist nowhere else: transactions that were not settled, and those that were
/// refused.
///
/// Each row is read on its own, so that a damaged page costs only the rows on it.
struct Salvage {
    let path: String
    /// The account of the file; nothing is read from a file of another account.
    let account: UserID

    func read() -> Salvaged {
        inDamaged(orElse: Salvaged()) { db in
            var salvaged = Salvaged()
            readOutbox(db, &salvaged)
            readParked(db, &salvaged)
            for entry in salvaged.entries {
                for mutation in entry.transaction.mutations { readBase(mutation.key, db, &salvaged) }
            }
            return salvaged
        }
    }

    func inDamaged<Result>(orElse nothing: Result, _ body: (Database) throws -> Result) rethrows -> Result {
        var configuration = Configuration()
        configuration.readonly = true
        // Nothing can be read from a file that cannot even be opened.
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return nothing }
        return try queue.unsafeRead { db in
            // If the owner cannot be read, it is assumed to be the account in the file's name.
            if let owner = try? Meta.account.text(db), owner != account.text { return nothing }
            return try body(db)
        }
    }

    private func readOutbox(_ db: Database, _ salvaged: inout Salvaged) {
        for row in rows(of: "tidemark_outbox", OutboxEntry.columns, db) {
            do {
                let entry = try OutboxEntry(row)
                // Transactions that the server has are not sent again under another client id.
                if entry.state.isKept { continue }
                salvaged.entries.append(Salvaged.Entry(entry: entry, transaction: try entry.transaction()))
            } catch {
                salvaged.unreadable += 1
            }
        }
    }

    private func readParked(_ db: Database, _ salvaged: inout Salvaged) {
        for row in rows(of: "tidemark_parked", "body, code, message, parked", db) {
            do {
                salvaged.parked.append(try Parking(db: db).stored(row))
            } catch {
                salvaged.unreadable += 1
            }
        }
    }

    /// Reads the server's last state under pending writes; without it the record waits for the server's state.
    private func readBase(_ key: RecordKey, _ db: Database, _ salvaged: inout Salvaged) {
        guard salvaged.bases[key] == nil else { return }
        // A damaged and a missing base are treated alike.
        salvaged.bases[key] = try? RecordTable(db, tables: [:]).base(key)
    }

    func rows(of table: String, _ columns: String, _ db: Database) -> [Row] {
        var rows = ReadableRows(table, columns, db)
        return rows.read()
    }
}

/// The data read from a damaged file.
struct Salvaged {
    struct Entry {
        var entry: OutboxEntry
        var transaction: Transaction
    }

    var entries: [Entry] = []
    var parked: [StoredParked] = []
    var bases: [RecordKey: LocalRecord] = [:]
    /// The number of rows that were found and could not be parsed.
    var unreadable = 0
}
