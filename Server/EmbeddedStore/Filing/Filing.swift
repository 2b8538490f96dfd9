import GRDB
import TidemarkLock

/// Decides when new records are entered into the tables that find a scope's records, `sync_feed` and `sync_page`.
///
/// The tables are sorted by scope: a commit of a hundred records of a hundred scopes would change two pages for each
/// record, and the next commits the same pages again. Entered together, the records of many commits share the changes;
/// until then every search looks through them. `FILING.md` has the savings and the costs. Used on the writing
/// connection.
final class Filing: Sendable {
    /// The bounds at which filing is worth it.
    struct Bounds: Sendable {
        /// The records that share the change of a scope's pages.
        var recordsPerScope = 8
        /// The scopes whose pages change at once: the commit that files waits for it, and with so many scopes records
        /// share few pages anyway. At most `recordsPerScope` times as many records are recent, plus one batch.
        var scopesMax = 512
    }

    private struct Recent {
        /// True when the count is unknown: all recent records are then filed next.
        var isUnknown = false
        var records = 0
        var places = Set<Int64>()
    }

    private let bounds: Bounds
    /// The records since the last filing.
    private let recent = Lock(Recent(isUnknown: true))

    init(_ bounds: Bounds) { self.bounds = bounds }

    /// Files the records of earlier batches if there are enough of them. Within a transaction, before it writes
    /// records: the writers of those batches do not wait for it.
    func runIfDue(_ db: Database) throws {
        let isDue = recent.withLock {
            $0.isUnknown || $0.places.count >= bounds.scopesMax
                || $0.records > 0 && $0.records >= bounds.recordsPerScope * $0.places.count
        }
        if isDue { try run(db) }
    }

    /// Counts a record that did not exist before.
    func added(at place: Int64) {
        recent.withLock {
            $0.records += 1
            $0.places.insert(place)
        }
    }

    /// Files all recent records. Within a transaction: its rollback must be followed by ``forget()``.
    func run(_ db: Database) throws {
        for sql in [FilingSQL.fileFeed, FilingSQL.filePage, FilingSQL.endFiling] {
            try Prepared(sql, db).execute { _ in }
        }
        recent.withLock { $0 = Recent() }
    }

    /// Called after a rollback, which made the records recent again that its transaction had filed. Otherwise batches
    /// that are repeated after such a rollback would leave ever more of them.
    func forget() { recent.withLock { $0.isUnknown = true } }
}
