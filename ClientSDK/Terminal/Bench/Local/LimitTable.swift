import TidemarkCommandLine
import TidemarkModel

/// Figures beside those of SQLite alone, and beside their limits.
struct LimitTable {
    private struct Row {
        var key: String
        var label: String
        var value: Double
        var raw: Double?
        var limits: [Limit]
    }

    /// The limits of a figure.
    enum Limit {
        /// An upper limit in the figure's own unit, with its requirement.
        case below(Double, String)
        /// A lower limit in the figure's own unit, with its requirement.
        case atLeast(Double, String)
        /// A multiple of SQLite's own figure.
        case timesRaw(Double)
    }

    private let bench: String
    private let unit: String
    private var rows: [Row] = []
    /// The factor by which a figure may exceed its limit; at least 1.
    var slack = 1.0

    /// - Parameter unit: the heading of the labels.
    init(_ bench: String, unit: String) {
        self.bench = bench
        self.unit = unit
    }

    /// Adds a figure, in milliseconds unless the label says otherwise.
    mutating func add(_ key: String, _ label: String, _ value: Double, raw: Double? = nil, _ limits: Limit...) {
        add(key, label, value, raw: raw, limits: limits)
    }

    /// Adds a figure with a list of limits.
    mutating func add(_ key: String, _ label: String, _ value: Double, raw: Double? = nil, limits: [Limit]) {
        rows.append(Row(key: key, label: label, value: value, raw: raw, limits: limits))
    }

    /// The labels of the figures that miss a limit.
    var missed: [String] { rows.filter { row in row.limits.contains { !isKept($0, row) } }.map(\.label) }

    var json: String {
        var fields: Fields = ["bench": .string(bench)]
        for row in rows {
            fields[row.key] = .double(Self.rounded(row.value))
            if let raw = row.raw { fields["\(row.key)_raw"] = .double(Self.rounded(raw)) }
        }
        return FieldValue.object(fields).json
    }

    var text: String {
        let limit = slack == 1 ? "limit" : "limit (x \(Self.short(slack)))"
        let head = [unit, "SDK", "SQLite", "ratio", limit, ""]
        let cells =
            [head]
            + rows.map { row in
                let ratio = row.raw.map { $0 > 0 ? "\(Self.rounded(row.value / $0)) x" : "-" } ?? ""
                let isKept = row.limits.allSatisfy { self.isKept($0, row) }
                return [
                    row.label, "\(Self.rounded(row.value))", row.raw.map { "\(Self.rounded($0))" } ?? "", ratio,
                    row.limits.map(Self.text).joined(separator: ", "),
                    row.limits.isEmpty ? "" : isKept ? "kept" : "MISSED",
                ]
            }
        let widths = head.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Prints the table and, if requested, the JSON object as the last line.
    ///
    /// - Throws: `CommandFailure` in a strict run that missed a limit.
    func show(json wantsJSON: Bool, isStrict: Bool = false) throws {
        print("bench \(bench)\n\(text)")
        if wantsJSON { print(json) }
        if isStrict, !missed.isEmpty { throw CommandFailure("missed: \(missed.joined(separator: "; "))") }
    }

    private func isKept(_ limit: Limit, _ row: Row) -> Bool {
        switch limit {
        case .below(let most, _): row.value < most * slack
        case .atLeast(let least, _): row.value * slack >= least
        case .timesRaw(let factor): row.raw.map { row.value <= $0 * factor * slack } ?? false
        }
    }

    private static func text(_ limit: Limit) -> String {
        switch limit {
        case .below(let most, let source): "< \(short(most)) \(source)"
        case .atLeast(let least, let source): ">= \(short(least)) \(source)"
        case .timesRaw(let factor): "<= \(factor) x SQLite"
        }
    }

    private static func short(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }

    private static func rounded(_ value: Double) -> Double { (value * 1_000).rounded() / 1_000 }
}
