import GRDB

/// In-memory databases that are used again from seed to seed: preparing their statements costs more than a whole course.
final class Shelf {
    private var queues: [DatabaseQueue] = []

    func take() throws -> DatabaseQueue { try queues.popLast() ?? DatabaseQueue() }

    /// Takes back what one course used, emptied; what stands in `tidemark_field` describes the tables, which stay.
    func putBack(_ used: [DatabaseQueue]) throws {
        for queue in used {
            try queue.write { db in
                let tables = try String.fetchAll(
                    db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'tidemark_field'")
                for table in tables { try db.cachedStatement(sql: "DELETE FROM \"\(table)\"").execute() }
            }
        }
        queues.append(contentsOf: used)
    }
}
