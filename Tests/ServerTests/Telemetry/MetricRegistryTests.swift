import CoreMetrics
import Testing

@testable import TidemarkTelemetry

/// The backend of swift-metrics, and the text that it writes.
@Suite struct MetricRegistryTests {
    private let registry = MetricRegistry()

    private func lines(_ beginning: String) -> [String] {
        registry.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(beginning) }
    }

    @Test func `a counter counts under its label, and unknown labels under 'other'`() {
        let refusals = CounterFamily(.refusals, registry)
        refusals.count("gap", by: 2)
        refusals.count("made up")
        #expect(lines(#"tidemark_refusals_total{code="gap"}"#) == [#"tidemark_refusals_total{code="gap"} 2"#])
        #expect(lines(#"tidemark_refusals_total{code="other"}"#) == [#"tidemark_refusals_total{code="other"} 1"#])
        #expect(!registry.text.contains("made up"))
    }

    @Test func `every metric has help and type, once, before its series`() {
        for metric in Metric.allCases {
            let own = registry.text.split(separator: "\n").map(String.init).filter {
                $0.contains(metric.rawValue + " ") || $0.contains(metric.rawValue + "{")
                    || $0.hasPrefix(metric.rawValue + "_")
            }
            #expect(own.first == "# HELP \(metric.rawValue) \(metric.help)")
            #expect(own.dropFirst().first == "# TYPE \(metric.rawValue) \(metric.kind.word)")
        }
        #expect(registry.text.hasSuffix("\n"))
    }

    @Test func `buckets add up, and a value on a bound is within it`() {
        let timer = ServerMetrics(registry).batchSeconds
        timer.record(.microseconds(500))
        timer.record(.milliseconds(2))
        timer.record(.seconds(60))
        timer.record(.seconds(-1))
        let text = lines("tidemark_batch_seconds")
        #expect(text.first == #"tidemark_batch_seconds_bucket{le="0.0005"} 2"#)
        #expect(text.contains(#"tidemark_batch_seconds_bucket{le="0.001"} 2"#))
        #expect(text.contains(#"tidemark_batch_seconds_bucket{le="0.0025"} 3"#))
        #expect(text.contains(#"tidemark_batch_seconds_bucket{le="30"} 3"#))
        #expect(
            text.suffix(3) == [
                #"tidemark_batch_seconds_bucket{le="+Inf"} 4"#, "tidemark_batch_seconds_sum 60.0025",
                "tidemark_batch_seconds_count 4",
            ])
    }

    @Test func `a histogram with a label has it on each of its lines`() {
        ServerMetrics(registry).noteRead(.page, waited: .zero, took: .milliseconds(7))
        #expect(lines(#"tidemark_store_use_seconds_bucket{read="page",le="0.01"} 1"#).count == 1)
        #expect(lines(#"tidemark_store_use_seconds_sum{read="page"} 0.007"#).count == 1)
        #expect(lines(#"tidemark_store_use_seconds_count{read="start"} 0"#).count == 1)
    }

    @Test func `an unlisted metric of a library makes no series`() {
        Counter(label: "visits", dimensions: [("path", "/any")], factory: registry).increment()
        Counter(label: Metric.catchups.rawValue, dimensions: [("user", "zoe")], factory: registry).increment()
        Recorder(label: Metric.catchups.rawValue, factory: registry).record(1)
        #expect(!registry.text.contains("visits") && !registry.text.contains("zoe"))
        #expect(lines("tidemark_catchups_total") == ["tidemark_catchups_total 0"])
    }

    @Test func `a gauge shows its last value, infinity and not-a-number as Prometheus writes them`() {
        let gauges = Gauges(registry)
        gauges.set(.backupAge, .infinity)
        gauges.set(.diskFree, .nan)
        gauges.set(.laneDepth, 3)
        gauges.set(.laneDepth, 2)
        #expect(lines("tidemark_verified_backup_age_seconds") == ["tidemark_verified_backup_age_seconds +Inf"])
        #expect(lines("tidemark_disk_free_bytes") == ["tidemark_disk_free_bytes NaN"])
        #expect(lines("tidemark_lane_depth") == ["tidemark_lane_depth 2"])
    }

    @Test func `a counter that follows another does not go back`() {
        let gauges = Gauges(registry)
        gauges.count(.epochs, "head", to: 2)
        gauges.count(.epochs, "head", to: 1)
        #expect(lines(#"tidemark_epochs_total{reason="head"}"#) == [#"tidemark_epochs_total{reason="head"} 2"#])
    }
}
