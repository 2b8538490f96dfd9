import Foundation
import Testing

/// The benchmarks with little work: that they end, and with which figures.
@Suite(.timeLimit(.minutes(5))) struct BenchTests {
    @Test(arguments: [
        ["writes_per_s", "p50_ms", "p99_ms", "writes", "--writers", "4", "--seconds", "1"],
        ["deliveries_per_s", "p50_ms", "p99_ms", "fanout", "--subscribers", "4", "--writers", "2", "--seconds", "1"],
        [
            "deliveries_per_s", "p99_ms", "write_p99_ms", "fanout", "--subscribers", "4", "--rate", "100", "--seconds",
            "1",
        ],
        ["records_per_s", "warm_records_per_s", "catchup", "--records", "3000", "--clients", "2"],
        ["bytes_per_connection", "idle", "--connections", "300"],
    ])
    func `a benchmark ends with one line of its figures`(_ words: [String]) async throws {
        let names = try #require(words.firstIndex { ["writes", "fanout", "catchup", "idle"].contains($0) })
        let outcome = try await Binary.run(["bench"] + words[names...] + ["--json"], of: "tide", atMost: .seconds(120))
        #expect(outcome.status == 0, "\(outcome.text)")
        let line = try #require(outcome.text.split(separator: "\n").last)
        let report = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        for name in words[..<names] {
            let figure = try #require(report?[name] as? Double, "\(name) is not in \(line)")
            // So few connections may fit into memory that the server has already.
            #expect(figure > 0 || name == "bytes_per_connection")
        }
    }

    @Test func `a benchmark of a server that does not run reports that`() async throws {
        let outcome = try await Binary.run(
            ["bench", "writes", "--server", "http://127.0.0.1:1"], of: "tide",
            environment: ["TIDEMARK_SECRET": String(repeating: "s", count: 32)], atMost: .seconds(60))
        #expect(outcome.status == 1)
        #expect(outcome.text.contains("cannot connect: Connection refused"), "\(outcome.text)")
    }
}
