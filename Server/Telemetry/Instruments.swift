import CoreMetrics
import TidemarkLock

/// One series that only grows. Any thread; one atomic addition.
package struct Tally: Sendable {
    private let counter: Counter

    init(_ metric: Metric, _ value: String?, _ registry: MetricRegistry) {
        counter = Counter(label: metric.rawValue, dimensions: metric.dimensions(value), factory: registry)
    }

    /// Adds to the count.
    package func count(_ amount: Int = 1) { counter.increment(by: amount) }
}

/// The series of a metric with a label, one for each value of the label.
package struct CounterFamily: Sendable {
    private let tallies: [String: Tally]
    private let other: Tally

    init(_ metric: Metric, _ registry: MetricRegistry) {
        var tallies: [String: Tally] = [:]
        for value in metric.label?.values ?? [] { tallies[value] = Tally(metric, value, registry) }
        self.tallies = tallies
        other = Tally(metric, Metric.otherValue, registry)
    }

    /// Counts under a value of the label, or under `other` if the label has no such value.
    package func count(_ value: String, by amount: Int = 1) { (tallies[value] ?? other).count(amount) }
}

/// A histogram of durations. Any thread; two atomic additions a value.
package struct Durations: Sendable {
    private let timer: CoreMetrics.Timer

    init(_ metric: Metric, _ value: String?, _ registry: MetricRegistry) {
        timer = CoreMetrics.Timer(label: metric.rawValue, dimensions: metric.dimensions(value), factory: registry)
    }

    /// Records a duration; a negative one, after a clock was set back, is recorded as zero.
    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (nanoseconds, overflowsToo) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        timer.recordNanoseconds(overflows || overflowsToo ? .max : max(0, nanoseconds))
    }
}

/// A histogram of counts. Any thread; two atomic additions a value.
package struct Sizes: Sendable {
    private let recorder: Recorder

    init(_ metric: Metric, _ registry: MetricRegistry) {
        recorder = Recorder(label: metric.rawValue, dimensions: [], aggregate: true, factory: registry)
    }

    /// Records one count.
    package func record(_ count: Int) { recorder.record(count) }
}

extension Metric {
    /// Returns the label as swift-metrics expects it.
    func dimensions(_ value: String?) -> [(String, String)] {
        guard let label, let value else { return [] }
        return [(label.name, value)]
    }
}

/// A counter of the registry. Any thread.
final class CounterCell: CounterHandler {
    private let count = Lock<Int64>(0)

    var value: Int64 { count.current }

    /// Raises the count to at least this value.
    func raise(to value: Int64) { count.withLock { $0 = max($0, value) } }

    func increment(by amount: Int64) { count.add(amount) }
    func reset() { count.set(0) }
}

/// A value of this moment. Any thread.
final class GaugeCell: MeterHandler {
    private let figure = Lock(0.0)

    var value: Double { figure.current }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { figure.set(value) }
    func increment(by amount: Double) { figure.add(amount) }
    func decrement(by amount: Double) { figure.add(-amount) }
}

/// A histogram: values sorted into buckets. Any thread. A scrape between the two additions sees only the first.
final class HistogramCell: TimerHandler, RecorderHandler {
    /// Upper bounds, inclusive, ascending; larger values have a bucket of their own.
    let bounds: [Int64]
    private let buckets: [CounterCell]
    private let total = CounterCell()

    init(bounds: [Int64]) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in CounterCell() }
    }

    /// The number of values in each bucket; one more than there are bounds.
    var counts: [Int64] { buckets.map(\.value) }
    /// The sum of all values.
    var sum: Int64 { total.value }

    func recordNanoseconds(_ duration: Int64) { record(duration) }
    func record(_ value: Double) { record(Int64(exactly: value.rounded()) ?? .max) }

    func record(_ value: Int64) {
        // A clock that was set back must not make the sum fall.
        let value = max(0, value)
        let place = bounds.firstIndex { value <= $0 } ?? bounds.count
        buckets[place].increment(by: 1)
        total.increment(by: value)
    }
}
