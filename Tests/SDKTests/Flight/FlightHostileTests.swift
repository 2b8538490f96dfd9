import Testing
import TidemarkModel

@testable import Tidemark

/// A recording that an attacker wrote.
@Suite(.timeLimit(.minutes(10))) struct FlightHostileTests {
    private static let numbers = [
        "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "9007199254740992", "4294967296", "1e308",
        "18446744073709551616", "null", "[]", "\"x\"",
    ]

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func `no number of a file ends the process`(_ seed: UInt64) throws {
        let lines = FlightCourse.varied(seed).recorder.lines()
        var dice = SplitMix(seed: seed)
        for _ in 0..<60 {
            var changed = lines
            for _ in 0..<(1 + dice.below(4)) {
                let index = Int(dice.below(UInt64(changed.count)))
                changed[index] = Self.withOtherNumber(changed[index], &dice)
            }
            guard let recording = try? Recording(lines: changed) else { continue }
            _ = FlightJudge(FlightReplay(recording))
        }
    }

    @Test func `no byte of a file ends the process`() throws {
        let lines = FlightCourse.varied(4).recorder.lines()
        var dice = SplitMix(seed: 9)
        for _ in 0..<400 {
            var bytes = Array(lines.joined(separator: "\n").utf8)
            for _ in 0..<(1 + dice.below(9)) {
                bytes[Int(dice.below(UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: dice.next())
            }
            guard let recording = try? Recording(lines: Recording.lines(ofFile: bytes)) else { continue }
            _ = FlightJudge(FlightReplay(recording))
        }
    }

    @Test func `the extreme numbers of a segment and of an engine's begin end nothing`() throws {
        let lines = FlightCourse.varied(2).recorder.lines()
        let members = try #require(lines.first { $0.contains("\"begin\":") })
        let begin = try #require(members.firstMatch(of: /"begin":-?[0-9]+/)).range
        var course: [String] = []
        for segment in [Int64.max - 1, .max, .min, .max] {
            course.append("{\"flight\":1,\"segment\":\(segment)}")
            for extreme in [Int64.min, -(1 << 53), 1 << 53, .max] {
                course.append("\(members[..<begin.lowerBound])\"begin\":\(extreme)\(members[begin.upperBound...])")
            }
        }
        let recording = try Recording(lines: course + lines)
        #expect(recording.torn == 0)
        #expect(recording.begins.count >= 8)
        #expect(FlightReplay(recording).isSame)
    }

    @Test func `a file that is no recording is refused`() {
        #expect(throws: MalformedRecording.self) { try Recording(lines: []) }
        #expect(throws: MalformedRecording.self) { try Recording(lines: ["{}", "hello", "{\"t\":-4,\"e\":\"tick\"}"]) }
    }

    private static func withOtherNumber(_ line: String, _ dice: inout SplitMix) -> String {
        let digits = line.indices.filter { line[$0].isNumber }
        guard !digits.isEmpty else { return line }
        let place = digits[Int(dice.below(UInt64(digits.count)))]
        let start = line[..<place].lastIndex { !$0.isNumber }.map { line.index(after: $0) } ?? place
        let end = line[place...].firstIndex { !$0.isNumber } ?? line.endIndex
        return line[..<start] + numbers[Int(dice.below(UInt64(numbers.count)))] + line[end...]
    }
}
