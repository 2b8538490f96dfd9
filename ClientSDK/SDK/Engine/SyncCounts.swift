import Dispatch
import GRDB
import TidemarkLock

/// The numbers of a status that are counted in the database.
struct SyncCounts: Hashable, Sendable {
    var pending = 0
    var failed = 0
    var parked = 0
    var unsentBlobs = 0
    var failedBlobs = 0
    var filled = SyncProgress(done: 0, total: 0)

    /// - Parameter filled: the count of pages, if it is known; else they are counted.
    static func fetch(_ db: Database, filled: SyncProgress? = nil) throws -> SyncCounts {
        var counts = SyncCounts()
        let waiting = "SELECT state, count(*) FROM tidemark_outbox WHERE \(OutboxTable.isPending) GROUP BY state"
        for row in try db.all(waiting) {
            let count = Int(try row.integer(1))
            switch OutboxEntry.State(rawValue: try row.text(0)) {
            case .queued, .sending, .reoffered: counts.pending += count
            case .withdrawn, .waiting: counts.failed += count
            case .held, .void, .settled, .refused, nil: break
            }
        }
        counts.parked = Int(try db.first("SELECT count(*) FROM tidemark_parked")?.integer(0) ?? 0)
        if let row = try db.first("SELECT count(*), count(failure) FROM tidemark_blob WHERE state = 'waiting'") {
            counts.failedBlobs = Int(try row.integer(1))
            counts.unsentBlobs = Int(try row.integer(0)) - counts.failedBlobs
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
        (pending, failed) = (counts.pending, counts.failed)
        (parked, filled) = (counts.parked, counts.filled)
        (unsentBlobs, failedBlobs) = (counts.unsentBlobs, counts.failedBlobs)
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

/// Counts from the first request on, and then with every change.
final class CountWatch: Sendable {
    private let hasStarted = Lock(false)
    private let observation = Lock<AnyDatabaseCancellable?>(nil)
    /// The queue on which counts are reported, one after the other.
    private let queue = DispatchQueue(label: "tidemark.status")

    /// Starts counting. The first call reads before it returns, and blocks for one short read.
    ///
    /// - Returns: true for the first call.
    func start(_ database: LocalDatabase, _ update: @escaping @Sendable (SyncCounts) -> Void) -> Bool {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return false }
        Self.count(database, update)
        let pages = PageCount()
        let cancellable = ValueObservation.trackingConstantRegion { try pages.fetch($0) }
            .removeDuplicates()
            .start(in: database.writer, scheduling: .async(onQueue: queue), onError: { _ in }, onChange: update)
        observation.withLock { $0 = cancellable }
        return true
    }

    /// Counts now, on the queue on which the observation reports: elsewhere, a count could arrive after a newer one.
    func refresh(_ database: LocalDatabase, _ update: @escaping @Sendable (SyncCounts) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                Self.count(database, update)
                continuation.resume()
            }
        }
    }

    /// Counts, and ignores errors: a database that cannot be read fails every call of the app, which reports it.
    private static func count(_ database: LocalDatabase, _ update: (SyncCounts) -> Void) {
        if let counts = try? database.writer.read({ try SyncCounts.fetch($0) }) { update(counts) }
    }
}
