import Foundation
import Testing
import TidemarkAPI
import TidemarkIdentity
import TidemarkModel
import TidemarkStore
import TidemarkTelemetry
import TidemarkWire

/// The list of metrics, compared with the counted ones and with the page about them.
@Suite struct MetricTableTests {
    private static func page(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../../deploy/\(name)").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// The rows of the page: name, kind and label.
    private static func rows(_ page: String) -> [[String]] {
        page.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[0].hasPrefix("`") else { return nil }
            return [String(cells[0].dropFirst().dropLast()), cells[1], cells[2].replacing("`", with: "")]
        }
    }

    @Test func `the page has a row for each metric with its kind and label, in order, and no other`() throws {
        let expected = Metric.allCases.map { [$0.rawValue, $0.kind.word, $0.label?.name ?? "–"] }
        #expect(Self.rows(try Self.page("metrics.md")) == expected)
    }

    @Test func `every code of a refusal has a series of its own`() {
        func missing(_ metric: Metric, _ values: [String]) -> [String] {
            values.filter { !(metric.label?.values.contains($0) ?? false) }
        }
        #expect(missing(.transactions, RejectionCode.allCases.map(\.rawValue)) == [])
        #expect(missing(.refusals, ErrorCode.allCases.map(\.rawValue)) == [])
        #expect(missing(.closes, CloseCode.allCases.map { "\($0.rawValue)" }) == [])
        #expect(missing(.tokensRefused, TokenRejection.allCases.map(\.label) + [RefusalCounts.unavailable]) == [])
        #expect(missing(.signInsRefused, AccountRefusal.allCases.map(\.rawValue)) == [])
        #expect(missing(.storeFault, StoreError.Fault.allCases.map(\.rawValue)) == [])
        #expect(missing(.epochs, EpochReason.allCases.map(\.rawValue)) == [])
    }

    @Test func `names follow Prometheus' conventions`() {
        for metric in Metric.allCases {
            #expect(metric.rawValue.hasSuffix("_total") == (metric.kind == .counter), "\(metric)")
            if case .seconds = metric.kind { #expect(metric.rawValue.hasSuffix("_seconds"), "\(metric)") }
            #expect(metric.help.hasSuffix(".") && !metric.help.contains("\n"), "\(metric)")
            #expect(Set(metric.label?.values ?? []).count == metric.label?.values.count ?? 0, "\(metric)")
        }
    }

    @Test func `no label is of users, devices, workspaces, scopes or addresses, and there are few series`() {
        let series = Metric.allCases.reduce(0) { $0 + ($1.label?.values.count ?? 1) }
        #expect(
            Set(Metric.allCases.compactMap(\.label?.name)) == ["outcome", "state", "code", "reason", "read", "fault"])
        #expect(series < 200)
    }
}
