import CoreMetrics

/// One series that only grows. Any thread; one atomic addition.
package struct Tally: Sendable {
    private let counter: Counter

    init(_ metric: Metric, _ value: String?, _ registry: MetricRegistry) {
        counter = Counter(label: metric.rawValue, dimensions: metric.dimensions(value), factory: registry)
    }

    /// Counts so many more.
    package func count(_ amount: Int = 1) { counter.increment(by: amount) }
}

/// The series of a metric with a label, one for each value that the label may have.
package struct CounterFamily: Sendable {
    private let tallies: [String: Tally]
    private let other: Tally

    init(_ metric: Metric, _ registry: MetricRegistry) {
        var tallies: [String: Tally] = [:]
        for value in metric.label?.values ?? [] { tallies[value] = Tally(metric, value, registry) }
        self.tallies = tallies
        other = Tally(metric, Metric.otherValue, registry)
    }

    /// Counts under a value of the label, or under `other` where it has no such value.
    package func count(_ value: String, by amount: Int = 1) { (tallies[value] ?? other).count(amount) }
}

/// A histogram of durations. Any thread; two atomic additions a value.
package struct Durations: Sendable {
    private let timer: CoreMetrics.Timer

    init(_ metric: Metric, _ value: String?, _ registry: MetricRegistry) {
        timer = CoreMetrics.Timer(label: metric.rawValue, dimensions: metric.dimensions(value), factory: registry)
    }

    /// Records a duration; a negative one, of a clock that was set back, counts as none.
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
    /// As swift-metrics takes a label.
    func dimensions(_ value: String?) -> [(String, String)] {
        guard let label, let value else { return [] }
        return [(label.name, value)]
    }
}
