import GRDB
import TidemarkLock

/// Refuses every commit as SQLite does when there is no space left.
final class FullDisk: TransactionObserver, Sendable {
    private let state = Lock(false)

    var isFull: Bool { state.withLock { $0 } }

    func set(isFull: Bool) { state.withLock { $0 = isFull } }

    func watch(_ writer: any DatabaseWriter) { writer.add(transactionObserver: self, extent: .databaseLifetime) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseWillCommit() throws {
        if isFull { throw DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full") }
    }
}
