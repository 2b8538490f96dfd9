import GRDB
import TidemarkModel

/// Reads of a damaged file what exists nowhere else: transactions that were not settled, and those that were refused.
///
/// Each row is read on its own, so that a damaged page costs what is on it and no more.
struct Salvage {
    let path: String
    /// A file of another account gives nothing.
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
        // A file that cannot even be opened has nothing to give.
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return nothing }
        return try queue.unsafeRead { db in
            // An owner that cannot be read is taken for the one whose file name it is.
            if let owner = try? Meta.account.text(db), owner != account.text { return nothing }
            return try body(db)
        }
    }

    private func readOutbox(_ db: Database, _ salvaged: inout Salvaged) {
        for row in rows(of: "tidemark_outbox", OutboxEntry.columns, db) {
            do {
                let entry = try OutboxEntry(row)
                // What the server has is not sent again under another client id.
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

    /// The server's last state under what is pending; without it the record waits for the server's word.
    private func readBase(_ key: RecordKey, _ db: Database, _ salvaged: inout Salvaged) {
        guard salvaged.bases[key] == nil else { return }
        // Damaged, or not there: the same to us.
        salvaged.bases[key] = try? RecordTable(db, tables: [:]).base(key)
    }

    func rows(of table: String, _ columns: String, _ db: Database) -> [Row] {
        var rows = ReadableRows(table, columns, db)
        return rows.read()
    }
}

/// What was read of a damaged file.
struct Salvaged {
    struct Entry {
        var entry: OutboxEntry
        var transaction: Transaction
    }

    var entries: [Entry] = []
    var parked: [StoredParked] = []
    var bases: [RecordKey: LocalRecord] = [:]
    /// Rows that were found and could not be understood.
    var unreadable = 0
}
