import CoreMetrics

/// The gauges, which are set when somebody looks. Any thread.
package struct Gauges: Sendable {
    private let registry: MetricRegistry

    package init(_ registry: MetricRegistry) { self.registry = registry }

    /// Sets a metric without a label.
    package func set(_ metric: Metric, _ value: Double) { set(metric, [], value) }
    /// The same of a whole number.
    package func set(_ metric: Metric, _ value: Int) { set(metric, [], Double(value)) }
    /// Sets the series of one value of a metric's label.
    package func set(_ metric: Metric, _ label: String, _ value: Int) {
        set(metric, metric.dimensions(label), Double(value))
    }

    /// Lets a counter stand at what somebody else has counted; it does not go back.
    package func count(_ metric: Metric, _ label: String, to value: Int) {
        count(metric, metric.dimensions(label), to: value)
    }
    /// The same of a counter without a label.
    package func count(_ metric: Metric, to value: Int) { count(metric, [], to: value) }

    private func count(_ metric: Metric, _ dimensions: [(String, String)], to value: Int) {
        guard case .counter(let cell)? = registry.cell(metric, dimensions) else { return }
        cell.raise(to: Int64(value))
    }

    private func set(_ metric: Metric, _ dimensions: [(String, String)], _ value: Double) {
        registry.makeMeter(label: metric.rawValue, dimensions: dimensions).set(value)
    }
}
