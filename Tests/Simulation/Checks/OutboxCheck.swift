import GRDB
@testable import Tidemark
import TidemarkModel

/// I-19: where every local write is, and that it is in one place only.
struct OutboxCheck {
    private let copy: LocalCopy
    private let database: LocalDatabase

    init(_ copy: LocalCopy, _ database: LocalDatabase) {
        self.copy = copy
        self.database = database
    }

    /// - Parameter released: parked transactions that the app sent anew under another id, or gave up.
    func checkConservation(of written: Set<TransactionID>, released: Set<TransactionID>) throws {
        let entries = Dictionary(copy.outbox.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let parked = Set(try database.parked().map(\.transaction.id))
        for id in written.sorted() {
            let isPending = entries[id].map { $0.state == .queued || $0.state == .sending } ?? false
            switch try database.step(of: id) {
            case .queued, .sending: try check(isPending && !parked.contains(id), .conservation, "\(id) is not pending")
            case .committed:
                try check(entries[id] == nil && !parked.contains(id), .conservation, "\(id) is settled and kept")
            case .parked:
                let isOnce = !isPending && parked.contains(id) != released.contains(id)
                try check(isOnce, .conservation, "\(id) is parked, and not in one place")
            case nil: throw Violation(invariant: .conservation, message: "\(id) has no receipt")
            }
        }
        for (before, after) in zip(copy.outbox, copy.outbox.dropFirst()) {
            try check(after.number == before.number + 1, .conservation, "no entry between \(before.number) and \(after.number)")
        }
    }
}
