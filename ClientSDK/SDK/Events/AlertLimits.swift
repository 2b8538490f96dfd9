import GRDB
import TidemarkModel

/// When a store raises an alert by itself: an event that is told at `warning`, see `SyncLogEvent.isAlert`.
///
///     store.alerts.pendingAge = .seconds(600)
///     for await event in store.events where event.isAlert { banner.show(event) }
public struct AlertLimits: Hashable, Sendable {
    /// How long a write may wait for its settlement while the store wants to be connected; `nil` for ever.
    public var pendingAge: Duration? = .seconds(3_600)
    /// Between two looks at what waits; at least a second.
    public var pause = Duration.seconds(60)

    public init() {}
}

/// Finds out when something is overdue, and tells of it once until it is over. Pure.
struct OverdueWatch: Sendable {
    private var isTold = false

    /// - Parameter oldest: when the oldest waiting transaction was written, by the device's clock; `nil` when none waits.
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
    /// When the store raises alerts; what is set holds from the next look on.
    public var alerts: AlertLimits {
        get { journal.alerts }
        set { journal.alerts = newValue }
    }

    /// Looks at what waits from time to time until the task is cancelled.
    func watchOverdue() async {
        var watch = OverdueWatch()
        while !Task.isCancelled {
            let limits = alerts
            // A database that cannot be read fails every call of the app; this is not the place to say so.
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
    /// How many transactions are not settled, and when the oldest of them was written; one short read.
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
