import Foundation
import TidemarkModel

/// The events of a run, one a line: the last lines for a reader, all of them as one hash for comparison.
struct Trace {
    private static let linesMax = ProcessInfo.processInfo.environment["LINES"].flatMap { Int($0) } ?? 40
    private var lines: [String] = []
    private var start = 0
    /// FNV-1a over every line.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var count = 0

    mutating func append(_ time: Milliseconds, _ text: String) {
        count += 1
        let line = "\(time) \(text)"
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        if lines.count < Self.linesMax {
            lines.append(line)
        } else {
            lines[start] = line
            start = (start + 1) % Self.linesMax
        }
    }

    /// The last lines, oldest first.
    var tail: [String] { Array(lines[start...] + lines[..<start]) }
}
