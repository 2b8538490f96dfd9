import TidemarkModel

/// Decides when the engine needs a timer: at most one that is due before all others, and none that sleeps for long.
struct Alarm {
    /// The longest sleep; a wake-up too many is harmless.
    static let napMax: Milliseconds = 5_000
    private var due: Milliseconds?

    /// Milliseconds to sleep for a new timer; `nil` when one is set that rings soon enough.
    mutating func set(_ time: Milliseconds, now: Milliseconds) -> Int64? {
        let wake = min(max(time, now + 1), now + Self.napMax)
        if let due, due <= wake { return nil }
        due = wake
        return wake - now
    }

    /// A timer rang.
    mutating func rang() { due = nil }
}
