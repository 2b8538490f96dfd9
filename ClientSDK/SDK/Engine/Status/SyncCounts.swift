import GRDB
import TidemarkLock

/// The numbers of a status that are counted in the database.
struct SyncCounts: Hashable, Sendable {
    var pending = 0
    var stalled = 0
    var rejected = 0
    var unsentBlobs = 0
    var rejectedBlobs = 0
    var filled = SyncProgress(done: 0, total: 0)

    /// - Parameter filled: the count of pages, if it is known; else they are counted.
    static func fetch(_ db: Database, filled: SyncProgress? = nil) throws -> SyncCounts {
        var counts = SyncCounts()
        let waiting = "SELECT state, count(*) FROM tidemark_outbox WHERE \(OutboxTable.isPending) GROUP BY state"
        for row in try db.all(waiting) {
            let count = Int(try row.integer(1))
            switch OutboxEntry.State(rawValue: try row.text(0)) {
            case .queued, .sending, .reoffered: counts.pending += count
            case .withdrawn, .waiting: counts.stalled += count
            case .held, .void, .settled, .refused, nil: break
            }
        }
        counts.rejected = Int(try db.first("SELECT count(*) FROM tidemark_parked")?.integer(0) ?? 0)
        if let row = try db.first("SELECT count(*), count(failure) FROM tidemark_blob WHERE state = 'waiting'") {
            counts.rejectedBlobs = Int(try row.integer(1))
            counts.unsentBlobs = Int(try row.integer(0)) - counts.rejectedBlobs
        }
        counts.filled = try filled ?? .pages(db)
        return counts
    }
}

extension SyncProgress {
    /// Returns the number of pages fetched, of all pages to fetch.
    fileprivate static func pages(_ db: Database) throws -> SyncProgress {
        // The first counts all pages, and the second an index that is empty in the end.
        let total = try db.first("SELECT count(*) FROM tidemark_scope_page")?.integer(0) ?? 0
        let toCome = "SELECT count(*) FROM tidemark_scope_page WHERE \(ScopeTable.isToCome)"
        let left = try db.first(toCome)?.integer(0) ?? 0
        return SyncProgress(done: Int(total - left), total: Int(total))
    }
}

extension SyncStatus {
    mutating func take(_ counts: SyncCounts) {
        (pending, stalled) = (counts.pending, counts.stalled)
        (rejected, filled) = (counts.rejected, counts.filled)
        (unsentBlobs, rejectedBlobs) = (counts.unsentBlobs, counts.rejectedBlobs)
    }
}

/// The count of pages for one observation. While many are to come they are counted four times a second at most: a count
/// visits all of them, and with many scopes would take longer than fetching. The last ones are always counted.
final class PageCount: Sendable {
    static let many = 1_000
    private static let apart = Duration.milliseconds(250)
    private static let isMany = """
        SELECT 1 FROM tidemark_scope_page WHERE \(ScopeTable.isToCome) LIMIT 1 OFFSET \(many)
        """
    private let last = Lock<(time: ContinuousClock.Instant, filled: SyncProgress)?>(nil)

    func fetch(_ db: Database) throws -> SyncCounts {
        let now = ContinuousClock.now
        let recent = last.withLock { last in last.flatMap { now - $0.time < Self.apart ? $0.filled : nil } }
        let known = try recent != nil && db.exists(Self.isMany) ? recent : nil
        let counts = try SyncCounts.fetch(db, filled: known)
        if known == nil { last.withLock { $0 = (now, counts.filled) } }
        return counts
    }
}

/// Counts when it is asked, if a commit may have changed a number since.
final class CountWatch: Sendable {
    private let pages = PageCount()
    private let watch = Lock<ChangeWatch?>(nil)

    /// Passes on new counts if there are any. It blocks for one short read, and for that of another caller, so that no
    /// count is followed by an older one.
    ///
    /// - Parameters:
    ///   - changed: called when there may be new counts.
    ///   - take: must not call back.
    /// - Returns: true for the first call.
    func refresh(
        _ database: LocalDatabase, changed: @escaping @Sendable () -> Void, _ take: (SyncCounts) -> Void
    ) -> Bool {
        watch.withLock { current in
            let isFirst = current == nil
            let watch = current ?? database.changes.watch(ObservationOrigin("status"), changed: changed)
            current = watch
            guard watch.isChanged else { return isFirst }
            // A database that cannot be read fails every call of the app, which reports it.
            let counts = try? database.writer.read { db in try watch.reading { try pages.fetch(db) } }
            if let counts { take(counts) }
            return isFirst
        }
    }
}
