import Foundation
import Testing
import TidemarkTelemetry

/// The files for Prometheus and Grafana, compared with the existing metrics.
@Suite struct AlertTests {
    private static func page(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).appending(path: "../../../../deploy/\(name)").standardizedFileURL
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Names in expressions that are not metrics.
    private static func unknown(_ expression: String) -> [String] {
        let names = expression.matches(of: /\b(tidemark|process)_[a-z_]+/).map { String($0.output.0) }
        let known = Set(
            Metric.allCases.flatMap { metric in
                metric.kind.word == "histogram"
                    ? ["_bucket", "_sum", "_count"].map { metric.rawValue + $0 } : [metric.rawValue]
            })
        return names.filter { !known.contains($0) }
    }

    private static func alerts() throws -> [(name: String, text: String)] {
        try page("alerts.yml").split(separator: "- alert: ").dropFirst().map { text in
            (String(text.prefix { !$0.isNewline }), String(text))
        }
    }

    private static func sections() throws -> [String: Substring] {
        let parts = try page("runbooks.md").split(separator: "\n## ").dropFirst()
        return Dictionary(uniqueKeysWithValues: parts.map { (String($0.prefix { !$0.isNewline }), $0) })
    }

    @Test func `there are at most twelve alerts, and each uses existing metrics`() throws {
        let alerts = try Self.alerts()
        #expect((1...12).contains(alerts.count))
        for alert in alerts {
            let expression = try #require(alert.text.split(separator: "\n").first { $0.contains("expr: ") })
            #expect(Self.unknown(String(expression)) == [], "\(alert.name)")
            #expect(expression.contains("tidemark"), "\(alert.name)")
        }
    }

    @Test func `each alert has a runbook that says meaning, impact, diagnosis and mitigation, and there is no other`()
        throws
    {
        let (alerts, sections) = (try Self.alerts(), try Self.sections())
        #expect(Set(alerts.map(\.name)) == Set(sections.keys))
        for alert in alerts {
            #expect(alert.text.contains("runbook_url: \"runbooks.md#\(alert.name.lowercased())\""))
            #expect(alert.text.contains("severity: page}") || alert.text.contains("severity: look}"))
            for part in ["*Meaning.*", "*Impact.*", "*Diagnosis.*", "*Mitigation.*"] {
                #expect(sections[alert.name]?.contains(part) == true, "\(alert.name) \(part)")
            }
        }
    }

    @Test func `runbooks name existing metrics`() throws {
        let names = try Self.page("runbooks.md").matches(of: /`(?:rate\()?((?:tidemark|process)_[a-z_]+)/)
        let known = Set(Metric.allCases.map(\.rawValue))
        #expect(names.map { String($0.output.1) }.filter { !known.contains($0) } == [])
    }

    @Test func `every panel of the dashboard uses existing metrics`() throws {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable { let expr: String }
                let title: String
                let targets: [Target]
            }
            let panels: [Panel]
        }
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(Self.page("dashboard.json").utf8))
        #expect(dashboard.panels.count > 10)
        for panel in dashboard.panels {
            for target in panel.targets {
                #expect(Self.unknown(target.expr) == [] && target.expr.contains("_"), "\(panel.title)")
            }
        }
    }
}
