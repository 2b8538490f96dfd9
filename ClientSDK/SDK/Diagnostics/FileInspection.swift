import Foundation
import GRDB
package import TidemarkModel

/// A device's database, inspected from outside: read-only, without its schema, even while the app runs.
package struct FileInspection: Sendable {
    private let queue: DatabaseQueue

    /// - Throws: `StoreError` with `notFound` when there is no such file, `corrupt` when it is not an SQLite database.
    package init(path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { throw StoreError(.notFound, "no file \(path)") }
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        do {
            queue = try DatabaseQueue(path: path, configuration: configuration)
            let isOurs = try queue.read { try $0.tableExists("tidemark_meta") }
            guard isOurs else { throw StoreError(.corrupt, "\(path) is not a database of a Tidemark device") }
        } catch let error as DatabaseError {
            throw StoreError(.corrupt, "\(path): \(error.message ?? "it cannot be read")")
        }
    }

    /// Returns what `SyncStore.diagnostics()` reads from inside.
    package func diagnostics() throws -> Diagnostics { try queue.read { try DiagnosticsReader(db: $0).read() } }

    /// Returns what `SyncStore.lostRecords()` reads from inside.
    package func lostRecords() throws -> [LostRecord] {
        try queue.read { try RescueTable(db: $0).all() }
    }

    /// Returns what `SyncStore.story(of:in:)` reads from inside.
    ///
    /// - Throws: `StoreError` with `unknownName` for a collection that the file does not have.
    package func story(_ key: RecordKey) throws -> RecordStory {
        try queue.read { try RecordStoryReader(db: $0).read(key) }
    }
}
