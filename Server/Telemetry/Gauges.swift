import CoreMetrics

/// Sets gauges, at the moment of a scrape. Any thread.
package struct Gauges: Sendable {
    private let registry: MetricRegistry

    package init(_ registry: MetricRegistry) { self.registry = registry }

    /// Sets a metric without a label.
    package func set(_ metric: Metric, _ value: Double) { set(metric, [], value) }
    /// Sets a metric without a label to a whole number.
    package func set(_ metric: Metric, _ value: Int) { set(metric, [], Double(value)) }
    /// Sets the series of one value of a metric's label.
    package func set(_ metric: Metric, _ label: String, _ value: Int) {
        set(metric, metric.dimensions(label), Double(value))
    }

    /// Raises a counter to a count that is kept elsewhere; it never falls.
    package func count(_ metric: Metric, _ label: String, to value: Int) {
        count(metric, metric.dimensions(label), to: value)
    }
    /// Raises a counter without a label.
    package func count(_ metric: Metric, to value: Int) { count(metric, [], to: value) }

    private func count(_ metric: Metric, _ dimensions: [(String, String)], to value: Int) {
        guard case .counter(let cell)? = registry.cell(metric, dimensions) else { return }
        cell.raise(to: Int64(value))
    }

    private func set(_ metric: Metric, _ dimensions: [(String, String)], _ value: Double) {
        registry.makeMeter(label: metric.rawValue, dimensions: dimensions).set(value)
    }
}
