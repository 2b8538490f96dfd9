import GRDB

@testable import Tidemark

/// In-memory databases that are reused from seed to seed: preparing their statements takes longer than a whole course.
final class Shelf {
    /// The databases with the tables of the present version of the app (false) and of the earlier one (true).
    private var queues: [Bool: [DatabaseQueue]] = [:]

    func take(_ isEarlier: Bool) throws -> DatabaseQueue { try queues[isEarlier]?.popLast() ?? DatabaseQueue() }

    /// Takes back the databases of one course, emptied. Only `tidemark_field`, which describes the tables, keeps its
    /// rows.
    func putBack(_ used: [Device]) throws {
        for device in used {
            // A finished course may stay in memory, and must not observe the next one.
            device.queue.remove(transactionObserver: device.database.changes)
            try device.queue.write { db in
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'tidemark_field'")
                for table in tables { try db.cachedStatement(sql: "DELETE FROM \"\(table)\"").execute() }
            }
            queues[device.isEarlier, default: []].append(device.queue)
        }
    }
}
