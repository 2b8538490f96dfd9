import ArgumentParser

/// A time on the command line: `90s`, `15m`, `24h`, `30d`, or a number of seconds.
package struct TimeSpan: ExpressibleByArgument, Sendable {
    package let duration: Duration

    package init(_ duration: Duration) { self.duration = duration }

    package init?(argument: String) {
        let factors: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let last = argument.last else { return nil }
        let factor = factors[last]
        guard let number = Int64(factor == nil ? argument[...] : argument.dropLast()), number > 0 else { return nil }
        let (seconds, overflowed) = number.multipliedReportingOverflow(by: factor ?? 1)
        guard !overflowed, seconds <= 36_500 * 86_400 else { return nil }
        duration = .seconds(seconds)
    }

    /// The text for help: `24h`, `90s`.
    package var defaultValueDescription: String {
        let seconds = duration.components.seconds
        return seconds % 3_600 == 0 ? "\(seconds / 3_600)h" : "\(seconds)s"
    }
}
