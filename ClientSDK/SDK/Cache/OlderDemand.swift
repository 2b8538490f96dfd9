import GRDB
import TidemarkLock
import TidemarkModel

/// Asks once for older records of a scope when a list has room for more records than there are: evicted records come
/// back when the user scrolls to them.
final class OlderDemand: Sendable {
    private enum Phase { case looking, due, asked }

    private let store: SyncStore
    private let collection: String
    private let scope: ScopeID
    private let limit: Int
    private let phase = Lock(Phase.looking)

    /// Creates the demand; `nil` for a list that does not show how far back it goes: one with a filter, of all scopes,
    /// or without a limit.
    init?(_ store: SyncStore, _ collection: String, where filter: Filter?, limit: Int?, in scope: ScopeID?) {
        guard let scope, let limit, limit > 0, filter == nil else { return nil }
        (self.store, self.collection, self.scope, self.limit) = (store, collection, scope, limit)
    }

    /// Checks the number of records in a list, while it is read.
    func look(at count: Int, _ db: Database) throws {
        guard count < limit, phase.withLock({ $0 == .looking }) else { return }
        let history = try OlderRecords.fetch(db, collection, scope)
        if history.exist, !history.isLoading { phase.withLock { $0 = .due } }
    }

    /// Asks for as many records as the list has room for, after it was read.
    func ask() throws {
        let isDue = phase.withLock { phase in
            guard phase == .due else { return false }
            phase = .asked
            return true
        }
        guard isDue, try store.database.wantOlder(collection, in: scope, count: limit) else { return }
        store.syncing.post(.wantsPages)
    }
}
