import GRDB
import TidemarkLock

/// The tables and columns that the statements of one reading look at.
final class RegionRecorder: Sendable {
    /// Whoever wants to know it of what is being read.
    @TaskLocal static var current: RegionRecorder?

    private let noted = Lock(DatabaseRegion())

    var region: DatabaseRegion { noted.withLock { $0 } }

    func note(_ region: DatabaseRegion) { noted.withLock { $0.formUnion(region) } }
}

extension Database {
    /// A statement that reads, prepared once a connection.
    func reading(_ sql: String) throws -> Statement {
        let statement = try cachedStatement(sql: sql)
        RegionRecorder.current?.note(statement.databaseRegion)
        return statement
    }
}
