import Foundation

/// `Golden/v1.txt`: the frozen bytes of version 1. Each line has the sender, the name of an example, and the bytes.
struct GoldenFile {
    struct Line: Hashable {
        var speaker: String
        var name: String
        var bytes: String

        /// True for a line that was added after version 1.
        var isLater: Bool { name.contains("+") }
    }

    let lines: [Line]

    init(lines: [Line]) { self.lines = lines }

    init() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/v1.txt")
        lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map { line in
                let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
                return Line(speaker: parts[0], name: parts[1], bytes: parts[2])
            }
    }

    /// The bytes of one example; an empty text, which nothing encodes to, when there is none.
    func bytes(_ speaker: String, _ name: String) -> String {
        lines.first { $0.speaker == speaker && $0.name == name }?.bytes ?? ""
    }

    func names(_ speaker: String) -> [String] { lines.filter { $0.speaker == speaker }.map(\.name) }

    /// FNV-1a, 64 bits, over lines in their order.
    func checksum(_ isCounted: (Line) -> Bool) -> UInt64 {
        lines.filter(isCounted).flatMap { Array("\($0.speaker) \($0.name) \($0.bytes)\n".utf8) }
            .reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
