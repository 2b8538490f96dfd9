extension MetricRegistry {
    /// The content type of `text`.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Every series in Prometheus' text format, in the order of ``Metric``.
    package var text: String {
        var text = ""
        for metric in Metric.allCases {
            text += "# HELP \(metric.rawValue) \(metric.help)\n# TYPE \(metric.rawValue) \(metric.kind.word)\n"
            guard let label = metric.label else {
                append(metric, [], "", to: &text)
                continue
            }
            for value in label.values {
                append(metric, [(label.name, value)], "\(label.name)=\"\(value)\"", to: &text)
            }
        }
        return text
    }

    private func append(_ metric: Metric, _ dimensions: [(String, String)], _ label: String, to text: inout String) {
        let name = metric.rawValue
        let braces = label.isEmpty ? "" : "{\(label)}"
        switch cell(metric, dimensions) {
        case .counter(let cell)?: text += "\(name)\(braces) \(cell.value)\n"
        case .gauge(let cell)?: text += "\(name)\(braces) \(Self.number(cell.value))\n"
        case .histogram(let cell)?:
            let more = label.isEmpty ? "" : label + ","
            var count: Int64 = 0
            for (bound, bucket) in zip(cell.bounds.map { metric.kind.shown($0) } + ["+Inf"], cell.counts) {
                count += bucket
                text += "\(name)_bucket{\(more)le=\"\(bound)\"} \(count)\n"
            }
            text += "\(name)_sum\(braces) \(metric.kind.shown(cell.sum))\n\(name)_count\(braces) \(count)\n"
        case nil: break
        }
    }

    /// Returns a number in Prometheus' form.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}

extension Metric.Kind {
    /// The type's name in the text format.
    package var word: String {
        switch self {
        case .counter: "counter"
        case .gauge: "gauge"
        case .seconds, .counts: "histogram"
        }
    }

    /// Returns a bucket's value, or a sum, in the unit of the metric.
    fileprivate func shown(_ value: Int64) -> String {
        if case .seconds = self { return MetricRegistry.number(Double(value) / 1_000_000_000) }
        return "\(value)"
    }
}
