import GRDB

@testable import Tidemark

/// In-memory databases that are used again from seed to seed: preparing their statements costs more than a whole course.
final class Shelf {
    /// With the tables of the present version of the app, and of the earlier one.
    private var queues: [Bool: [DatabaseQueue]] = [:]

    func take(_ isEarlier: Bool) throws -> DatabaseQueue { try queues[isEarlier]?.popLast() ?? DatabaseQueue() }

    /// Takes back what one course used, emptied; what stands in `tidemark_field` describes the tables, which stay.
    func putBack(_ used: [Device]) throws {
        for device in used {
            // A course that is over may stay in memory, and must not hear of the next one.
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
