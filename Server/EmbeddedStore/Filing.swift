import GRDB
import TidemarkLock

/// Decides when the tables that find a scope's records, `sync_feed` and `sync_page`, learn of new ones.
///
/// They are sorted by scope: a commit of a hundred records of a hundred scopes would change two pages for each record,
/// and the next commits the same pages again. Entered together, the records of many commits share the changes; until then
/// every search looks through them. What that saves and costs says `FILING.md`. Used on the writing connection.
final class Filing: Sendable {
    /// When filing is worth it.
    struct Bounds: Sendable {
        /// Records that share the change of a scope's pages.
        var recordsPerScope = 8
        /// Scopes whose pages change at once: the commit that files waits for it, and with so many scopes records share
        /// few pages anyway. At most `recordsPerScope` times as many records are recent, and one batch more.
        var scopesMax = 512
    }

    private struct Recent {
        /// How many there are is not known: those that there are, are filed next.
        var isUnknown = false
        var records = 0
        var places = Set<Int64>()
    }

    private let bounds: Bounds
    /// What came since records were last filed.
    private let recent = Lock(Recent(isUnknown: true))

    init(_ bounds: Bounds) { self.bounds = bounds }

    /// Files what earlier batches brought if there is enough of it. Within a transaction, before it brings records: those
    /// who wait for the batch that was enough do not wait for this too.
    func runIfDue(_ db: Database) throws {
        let isDue = recent.withLock {
            $0.isUnknown || $0.places.count >= bounds.scopesMax
                || $0.records > 0 && $0.records >= bounds.recordsPerScope * $0.places.count
        }
        if isDue { try run(db) }
    }

    /// A record that was not there before.
    func added(at place: Int64) {
        recent.withLock {
            $0.records += 1
            $0.places.insert(place)
        }
    }

    /// Files all recent records. Within a transaction: who rolls it back must ``forget()``.
    func run(_ db: Database) throws {
        for sql in [FilingSQL.fileFeed, FilingSQL.filePage, FilingSQL.endFiling] {
            try Prepared(sql, db).execute { _ in }
        }
        recent.withLock { $0 = Recent() }
    }

    /// A rollback made the records recent again that its transaction had filed. Without this, batches that are rolled back
    /// each time they file, and then go without, would leave ever more of them.
    func forget() { recent.withLock { $0.isUnknown = true } }
}
