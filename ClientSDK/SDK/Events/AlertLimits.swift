import GRDB
import TidemarkModel

/// The limits at which a store raises an alert by itself: an event that is logged at `warning`, see
/// `SyncLogEvent.isAlert`.
///
///     store.alerts.pendingAge = .seconds(600)
///     for await event in store.events where event.isAlert { banner.show(event) }
public struct AlertLimits: Hashable, Sendable {
    /// The longest time that a write may wait for its settlement while the store wants to be connected; `nil` for no
    /// limit.
    public var pendingAge: Duration? = .seconds(3_600)
    /// The time between two looks at the waiting writes; at least a second.
    public var pause = Duration.seconds(60)

    public init() {}
}

/// Detects overdue writes, and reports them once until none is overdue. Pure.
struct OverdueWatch: Sendable {
    private var isTold = false

    /// - Parameter oldest: the device's time at which the oldest waiting transaction was written; `nil` when none
    ///   waits.
    mutating func look(
        oldest: Milliseconds?, transactions: Int, limit: Duration?, now: Milliseconds
    ) -> SyncLogEvent? {
        guard let oldest, let limit, Duration.milliseconds(now - oldest) > limit else {
            isTold = false
            return nil
        }
        defer { isTold = true }
        return isTold ? nil : .overdue(transactions: transactions, age: .milliseconds(now - oldest))
    }
}

extension SyncStore {
    /// The limits at which the store raises alerts; a change applies from the next look on.
    public var alerts: AlertLimits {
        get { journal.alerts }
        set { journal.alerts = newValue }
    }

    /// Looks at the waiting writes from time to time until the task is cancelled.
    func watchOverdue() async {
        var watch = OverdueWatch()
        while !Task.isCancelled {
            let limits = alerts
            // Errors are ignored: a database that cannot be read fails every call of the app, which reports it.
            if let waiting = try? database.oldestWaiting() {
                let event = watch.look(
                    oldest: waiting.oldest, transactions: waiting.transactions, limit: limits.pendingAge,
                    now: environment.now())
                if let event { journal.note(event) }
            }
            // Throws only when cancelled.
            try? await environment.clock.sleep(for: max(limits.pause, .seconds(1)))
        }
    }
}

extension LocalDatabase {
    /// Returns the number of unsettled transactions, and the time at which the oldest was written; one short read.
    func oldestWaiting() throws -> (oldest: Milliseconds?, transactions: Int) {
        try writer.read { db in
            let sql = """
                SELECT min(created), count(*) FROM tidemark_outbox
                WHERE \(OutboxTable.isPending) AND state NOT IN ('void', 'held')
                """
            guard let row = try db.first(sql) else { return (nil, 0) }
            return (try row.optionalInteger(0), Int(try row.integer(1)))
        }
    }
}
