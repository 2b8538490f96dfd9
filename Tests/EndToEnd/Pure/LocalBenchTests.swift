import Testing

@testable import TidemarkTerminal

@Suite struct LocalBenchTests {
    @Test func `a table shows kept and missed limits, with the ratio to SQLite`() {
        var table = LimitTable("local", unit: "figure")
        table.add("a", "kept", 3, raw: 2, .timesRaw(1.5), .below(4, "S1"))
        table.add("b", "over the ratio", 3.1, raw: 2, .timesRaw(1.5))
        table.add("c", "over the limit", 4, .below(4, "S2"))
        table.add("d", "without a limit", 1)
        #expect(table.missed == ["over the ratio", "over the limit"])
        let lines = table.text.split(separator: "\n")
        #expect(lines[1].contains("1.5 x") && lines[1].contains("<= 1.5 x SQLite, < 4 S1"))
        #expect(lines.map { $0.contains("MISSED") } == [false, false, true, true, false])
        #expect(table.json.contains(#""a_raw":2"#) && !table.json.contains("c_raw"))
    }

    @Test func `with slack a limit is missed only at a multiple of it`() {
        var table = LimitTable("local", unit: "figure")
        table.add("a", "a", 7.9, .below(4, "S1"))
        table.add("b", "b", 3.1, raw: 2, .timesRaw(1.5))
        table.add("c", "c", 1, .atLeast(2, "S2"))
        #expect(table.missed == ["a", "b", "c"])
        table.slack = 2
        #expect(table.missed.isEmpty)
        #expect(table.text.contains("limit (x 2)"))
        table.add("d", "d", 8, .below(4, "S1"))
        table.add("e", "e", 6.1, raw: 2, .timesRaw(1.5))
        table.add("f", "f", 0.9, .atLeast(2, "S2"))
        #expect(table.missed == ["d", "e", "f"])
    }

    @Test func `the limit of many scopes is 1,5 seconds for 2,000, and 8 for 10,000`() {
        #expect([1, 2_000, 5_000, 10_000].map(ScopesRun.limit) == [1_500, 1_500, 4_000, 8_000])
    }

    @Test func `a small run gives each figure, from an intact file`() async throws {
        // In a process of its own: it uses one thread from beginning to end, for which others would wait.
        let outcome = try await Binary.run(
            ["bench", "local", "--messages", "60", "--conversations", "3", "--rounds", "2", "--json"], of: "tide",
            atMost: .seconds(240))
        #expect(outcome.status == 0, "\(outcome.text)")
        for key in [
            "open", "page", "thousand", "list", "search", "memory", "insert", "batch", "observed_p99", "update_each",
            "delete_each",
            "cache_mb", "answered_p99", "arrived_p99", "hundred", "pending", "in_step",
        ] {
            #expect(outcome.text.contains("\"\(key)\":"), "\(key)")
        }
    }
}
