import GRDB
import TidemarkLock

/// The tables and columns that the statements of one reading look at.
final class RegionRecorder: Sendable {
    /// The recorder of the current read, if anything wants its region.
    @TaskLocal static var current: RegionRecorder?

    private let noted = Lock(DatabaseRegion())

    var region: DatabaseRegion { noted.withLock { $0 } }

    func note(_ region: DatabaseRegion) { noted.withLock { $0.formUnion(region) } }
}

extension Database {
    /// Returns a statement that reads, prepared once per connection.
    func reading(_ sql: String) throws -> Statement {
        let statement = try cachedStatement(sql: sql)
        RegionRecorder.current?.note(statement.databaseRegion)
        return statement
    }
}
