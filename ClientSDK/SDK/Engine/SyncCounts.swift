import Dispatch
import GRDB
import TidemarkLock

/// The numbers of a status that stand in the database.
struct SyncCounts: Hashable, Sendable {
    var pending = 0
    var failed = 0
    var parked = 0
    var unsentBlobs = 0
    var failedBlobs = 0
    var filled = SyncProgress(done: 0, total: 0)

    /// - Parameter filled: what is known of the pages; they are counted without it.
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
    /// The pages that were fetched, of all there are to fetch.
    fileprivate static func pages(_ db: Database) throws -> SyncProgress {
        // The first is a count of pages, and the second one of an index that is empty in the end.
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

/// The count of pages for one observation. While many are to come they are counted four times a second at most: a count goes
/// through all of them, and with many scopes would take longer than what it counts. The last ones are always counted.
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

/// Counts once someone wants to know, and from then on with every change.
final class CountWatch: Sendable {
    private let hasStarted = Lock(false)
    private let observation = Lock<AnyDatabaseCancellable?>(nil)
    /// Where counts are told, one after the other.
    private let queue = DispatchQueue(label: "tidemark.status")

    /// The first call reads before it returns; blocks for one short read.
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

    /// Counts now. Reads where the observation tells what it has read: elsewhere, a count could come after a newer one.
    func refresh(_ database: LocalDatabase, _ update: @escaping @Sendable (SyncCounts) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async {
                Self.count(database, update)
                continuation.resume()
            }
        }
    }

    /// A database that cannot be read fails every call of the app; the status is not the place to say so.
    private static func count(_ database: LocalDatabase, _ update: (SyncCounts) -> Void) {
        if let counts = try? database.writer.read({ try SyncCounts.fetch($0) }) { update(counts) }
    }
}
