import GRDB
import TidemarkModel

@testable import Tidemark

/// I-19: every local write is stored, in one table only.
struct OutboxCheck {
    private let copy: LocalCopy
    private let database: LocalDatabase
    /// True when the journal has room for everything.
    private let keepsAll: Bool

    init(_ copy: LocalCopy, _ database: LocalDatabase) {
        self.copy = copy
        self.database = database
        keepsAll = database.limits.journalBytesMax == LocalLimits().journalBytesMax
    }

    /// - Parameters:
    ///   - released: parked transactions that the app sent again under another id, or gave up.
    ///   - contested: transactions with contested fields: if the server loses one, it is judged again and may be
    ///     parked again.
    ///   - forgotten: committed transactions of which only the number is kept.
    ///   - isKept: committed transactions are in the journal, if that has room.
    func checkConservation(
        of written: Set<TransactionID>, released: Set<TransactionID>, contested: Set<TransactionID>,
        forgotten: Set<TransactionID>, isKept: Bool
    ) throws {
        let parked = try database.writer.unsafeRead { db in
            contested.isEmpty ? [] : Set(try Parking(db: db).parked().map(\.transaction.id))
        }
        let released = released.subtracting(contested.intersection(parked))
        // Without the read-only mode of `read`: entering it makes SQLite prepare every statement again.
        try database.writer.unsafeRead { db in try checkEach(of: written, released, forgotten, isKept && keepsAll, db) }
        // The journal and the pending transactions have consecutive numbers.
        let numbered = (copy.journal.filter { $0.number > 0 } + copy.outbox.filter { $0.state != .waiting })
            .sorted { $0.number < $1.number }
        for (before, after) in zip(numbered, numbered.dropFirst()) {
            try check(
                after.number == before.number + 1, .conservation,
                "no entry between \(before.number) and \(after.number)")
        }
    }

    private func checkEach(
        of written: Set<TransactionID>, _ released: Set<TransactionID>, _ forgotten: Set<TransactionID>,
        _ isKept: Bool, _ db: Database
    ) throws {
        let entries = Dictionary(copy.outbox.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let kept = Set(copy.journal.map(\.id))
        let parked = Set(try Parking(db: db).parked().map(\.transaction.id))
        for id in written.sorted() {
            let isPending = entries[id].map { $0.state != .held && $0.state != .void } ?? false
            switch try ReceiptTable(db: db).step(id) {
            case .queued, .sending, .resending:
                try require(isPending && !parked.contains(id) && !kept.contains(id), "\(id) is not pending")
            case .committed:
                // Lost by the server: the number is offered with nothing in it.
                let isOnlyNumber = forgotten.contains(id) && entries[id]?.state == .void
                try require(
                    (entries[id] == nil || isOnlyNumber) && !parked.contains(id), "\(id) is settled and pending")
                try require(
                    !isKept || kept.contains(id) || forgotten.contains(id),
                    "\(id) was committed, and is not in the journal")
            case .rejected:
                let isOnce = !isPending && parked.contains(id) != released.contains(id)
                try require(isOnce, "\(id) is parked, and not in one place")
            case nil: try require(false, "\(id) has no receipt")
            }
        }
    }

    private func require(_ holds: Bool, _ message: @autoclosure () -> String) throws(Violation) {
        try check(holds, .conservation, message())
    }
}
