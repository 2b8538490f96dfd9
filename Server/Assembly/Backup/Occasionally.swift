import TidemarkLock

/// Shows progress, once a second at most.
final class Occasionally: Sendable {
    private let show: @Sendable (String) -> Void
    private let last: Lock<ContinuousClock.Instant>
    private static let every = Duration.seconds(1)

    init(_ show: @escaping @Sendable (String) -> Void) {
        self.show = show
        last = Lock(ContinuousClock.now)
    }

    /// Shows the text if a second has passed since the last one.
    func tell(_ text: @autoclosure () -> String) {
        let isDue = last.withLock { last in
            let now = ContinuousClock.now
            guard now - last >= Self.every else { return false }
            last = now
            return true
        }
        if isDue { show(text()) }
    }

    /// Shows a part of a whole: `copied 120 of 612 MB, 19 %`.
    func tell(_ verb: String, _ done: Int64, of all: Int64) {
        let share = all > 0 ? ", \(min(100, done / max(all / 100, 1))) %" : ""
        tell("\(verb) \(done.megabytes) of \(all.megabytes) MB\(share)")
    }
}

extension Int64 {
    /// The megabytes of a count of bytes, rounded up.
    var megabytes: Int64 { self / 1_000_000 + (self % 1_000_000 > 0 ? 1 : 0) }
}
