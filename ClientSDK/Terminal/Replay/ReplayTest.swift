import Tidemark

/// Swift source of a test that replays a recording.
enum ReplayTest {
    static func text(lines: [String], until: Int?, _ replay: FlightReplay, _ judge: FlightJudge) -> String {
        let kept = until.map { Array(lines.prefix($0)) } ?? lines
        let standing = judge.findings.last(where: \.isStanding)
        let expectation =
            if let standing {
                """
                        // The device made no more progress here. After the fix, expect the opposite.
                        let standing = try #require(FlightJudge(replay).findings.last { $0.isStanding })
                        #expect(standing.kind == .\(standing.kind) && standing.entry == \(standing.entry))
                """
            } else {
                "        #expect(!FlightJudge(replay).findings.contains { $0.isStanding })"
            }
        let fence = String(repeating: "#", count: kept.reduce(1) { max($0, 1 + longestFence($1)) })
        return """
            import Testing
            import Tidemark

            /// Replays a recording of a device.
            @Suite struct RecordedCourseTests {
                private static let lines = \(fence)\"""
            \(kept.map { "    \($0)" }.joined(separator: "\n"))
                \"""\(fence)

                @Test func `replaying the recording takes the same steps`() throws {
                    let lines = Self.lines.split(separator: "\\n").map(String.init)
                    let replay = FlightReplay(try Recording(lines: lines))
                    #expect(replay.isSame && replay.steps.count == \(replay.steps.count))
            \(expectation)
                }
            }
            """
    }

    /// Returns the longest run of signs that would end a raw string.
    private static func longestFence(_ line: String) -> Int {
        var (longest, current) = (0, 0)
        for byte in line.utf8 {
            current = byte == UInt8(ascii: "#") ? current + 1 : 0
            longest = max(longest, current)
        }
        return longest
    }
}
