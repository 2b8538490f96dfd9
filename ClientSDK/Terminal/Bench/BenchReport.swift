import TidemarkModel

/// The result of a benchmark: the same figures for people and for programs.
struct BenchReport {
    let name: String
    private var fields = Fields()
    private var rows: [(label: String, value: String)] = []

    init(_ name: String) {
        self.name = name
        fields["bench"] = .string(name)
    }

    /// Adds a figure; `key` is its name in the JSON line.
    mutating func add(_ key: String, _ value: Double, _ label: String) {
        let rounded = (value * 1_000).rounded() / 1_000
        fields[key] = .double(rounded)
        rows.append((label, value >= 1_000 ? String(Int64(value.rounded())) : "\(rounded)"))
    }

    /// Adds a condition of the measurement.
    mutating func note(_ key: String, _ value: FieldValue, _ label: String) {
        fields[key] = value
        let text = if case .string(let text) = value { text } else { value.json }
        rows.append((label, text))
    }

    /// Adds p50, p99 and the maximum of the measured times, named after `key` in the JSON line.
    mutating func add(_ latencies: LatencyLog, _ label: String, key: String = "") {
        let figures = latencies.percentiles([0.5, 0.99, 1])
        add("\(key)p50_ms", figures[0], "\(label) p50, ms")
        add("\(key)p99_ms", figures[1], "\(label) p99, ms")
        add("\(key)max_ms", figures[2], "\(label) longest, ms")
    }

    /// Adds the processor time that the machine's host gave to others since `start`, if the system reports it.
    mutating func addStolenTime(since start: StolenTime?) {
        guard let start, let end = StolenTime() else { return }
        add("stolen_percent", end.percent(since: start), "processor time given to other machines, %")
    }

    var json: String { FieldValue.object(fields).json }

    var table: String {
        let width = rows.map(\.label.count).max() ?? 0
        return rows.map { "  " + $0.label + String(repeating: " ", count: width - $0.label.count + 2) + $0.value }
            .joined(separator: "\n")
    }

    /// Prints the table and, if requested, the JSON object as the last line.
    func show(json wantsJSON: Bool) {
        print("bench \(name)\n\(table)")
        if wantsJSON { print(json) }
    }
}
