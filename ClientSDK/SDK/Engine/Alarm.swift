import TidemarkModel

/// Decides when the engine needs another timer. A timer that is set cannot be cancelled. One is therefore set only if
/// none fires earlier, and there are never more timers than deadlines that each came closer than the one before.
struct Alarm {
    /// The longest sleep of one timer. A timer may sleep on while the device is asleep, and a superfluous wake-up is
    /// harmless.
    static let napMax: Milliseconds = 60_000
    /// The times at which the set timers fire, the next one last.
    private var due: [Milliseconds] = []

    /// Returns the milliseconds to sleep for a new timer; `nil` when a timer that is set fires soon enough.
    mutating func set(_ time: Milliseconds, now: Milliseconds) -> Int64? {
        let wake = min(max(time, now + 1), now + Self.napMax)
        if let next = due.last, next <= wake { return nil }
        due.append(wake)
        return wake - now
    }

    /// Notes that a timer fired: the one that was due first.
    mutating func rang() { _ = due.popLast() }
}
