import TidemarkModel

/// Decides when the engine needs another timer. Timers that are set ring, wanted or not; so one is set only where none
/// rings before, and there are never more than the deadlines that came closer one after the other.
struct Alarm {
    /// The longest sleep: a timer may sleep through the sleep of the device, and a wake-up too many is harmless.
    static let napMax: Milliseconds = 60_000
    /// When those ring that are set, the next one last.
    private var due: [Milliseconds] = []

    /// Milliseconds to sleep for a new timer; `nil` when one is set that rings soon enough.
    mutating func set(_ time: Milliseconds, now: Milliseconds) -> Int64? {
        let wake = min(max(time, now + 1), now + Self.napMax)
        if let next = due.last, next <= wake { return nil }
        due.append(wake)
        return wake - now
    }

    /// A timer rang: the one that was to ring first.
    mutating func rang() { _ = due.popLast() }
}
