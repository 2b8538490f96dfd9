import GRDB
import TidemarkModel
import TidemarkWire

@testable import Tidemark

extension Device {
    /// The device frees space: only the newest records of each scope stay.
    func trimCache(to rows: Int) {
        guard machine != nil, !isReader else { return }
        var policy = CachePolicy()
        policy.maxBytes = nil
        policy.maxRows = rows
        do {
            let count = try transact { [clock] in try $0.evict(policy, now: clock) }
            watch.evicted(on: self)
            if count > 0 { log("evicts \(count)") }
        } catch is Killed {
            watch.evicted(on: self)
            kill()
        } catch {
            log("cannot evict: \(error)")
        }
    }

    /// A user scrolls back.
    ///
    /// - Parameter rows: `nil` for all older rows.
    func loadOlder(rows: Int?) {
        do {
            try transact { database in
                for held in try database.writer.unsafeRead({ try ScopeTable(db: $0).all() }) {
                    for collection in world.schema.collections {
                        try database.wantOlder(collection.name, in: held.scope, count: rows)
                    }
                }
            }
            if machine != nil { feed(.wantsPages) }
        } catch is Killed {
            kill()
        } catch {
            log("cannot ask for older records: \(error)")
        }
    }
}
