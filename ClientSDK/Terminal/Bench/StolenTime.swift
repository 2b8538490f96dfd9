import Foundation

/// The share of the processors that a virtual machine's host gave to others during a measurement. With more than a few
/// percent, times in milliseconds depend on the host rather than the server.
struct StolenTime {
    private let stolen: Int64
    private let total: Int64

    /// Reads the counters now; `nil` on a system without them.
    init?() {
        // Only Linux has the file.
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        self.init(stat: text)
    }

    /// - Parameter text: the content of `/proc/stat`, whose first line counts the ticks of all processors: user, nice,
    ///   system, idle, iowait, irq, softirq, steal, and two that are part of the first two.
    init?(stat text: String) {
        guard let line = text.split(separator: "\n").first, line.hasPrefix("cpu ") else { return nil }
        let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Int64($0) }
        guard ticks.count == 8 else { return nil }
        stolen = ticks[7]
        total = ticks.reduce(0, &+)
    }

    /// Returns the share since an earlier reading, in percent; 0 when no time has passed.
    func percent(since earlier: StolenTime) -> Double {
        let passed = total &- earlier.total
        return passed > 0 ? Double(stolen &- earlier.stolen) * 100 / Double(passed) : 0
    }
}
