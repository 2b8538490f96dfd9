package import CoreMetrics

/// The metrics of one server: a backend of swift-metrics whose series all exist from the start.
///
/// ```swift
/// let registry = MetricRegistry()
/// Counter(label: "tidemark_catchups_total", factory: registry).increment()
/// registry.text   // # HELP tidemark_catchups_total …
/// ```
/// Metrics that are not in ``Metric`` are not kept, whichever library reports them, so that no client can make
/// series by sending labels. Any thread.
package final class MetricRegistry: MetricsFactory {
    /// One series.
    enum Cell {
        case counter(CounterCell)
        case gauge(GaugeCell)
        case histogram(HistogramCell)
    }

    /// The cells by metric, and by the value of its label; the empty value if it has none.
    private let cells: [Metric: [String: Cell]]

    package init() {
        var cells: [Metric: [String: Cell]] = [:]
        for metric in Metric.allCases {
            var series: [String: Cell] = [:]
            for value in metric.label?.values ?? [""] { series[value] = Self.cell(of: metric.kind) }
            cells[metric] = series
        }
        self.cells = cells
    }

    private static func cell(of kind: Metric.Kind) -> Cell {
        switch kind {
        case .counter: .counter(CounterCell())
        case .gauge: .gauge(GaugeCell())
        case .seconds(let bounds), .counts(let bounds): .histogram(HistogramCell(bounds: bounds))
        }
    }

    /// Returns a series; `nil` if none has that name.
    func cell(_ label: String, _ dimensions: [(String, String)]) -> Cell? {
        guard let metric = Metric(rawValue: label) else { return nil }
        return cell(metric, dimensions)
    }

    func cell(_ metric: Metric, _ dimensions: [(String, String)]) -> Cell? {
        guard let label = metric.label else { return dimensions.isEmpty ? cells[metric]?[""] : nil }
        guard dimensions.count == 1, let (name, value) = dimensions.first, name == label.name else { return nil }
        return cells[metric]?[value] ?? cells[metric]?[Metric.otherValue]
    }

    // MARK: swift-metrics

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        if case .counter(let cell)? = cell(label, dimensions) { return cell }
        return NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        if case .gauge(let cell)? = cell(label, dimensions) { return cell }
        return NOOPMetricsHandler.instance
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        if case .histogram(let cell)? = cell(label, dimensions) { return cell }
        return NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        if case .histogram(let cell)? = cell(label, dimensions) { return cell }
        return NOOPMetricsHandler.instance
    }

    // Series live as long as the registry.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
