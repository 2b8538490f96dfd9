import Foundation

/// The resources that this process has used since its start.
///
/// Every system reports processor time and context switches. Only Linux reports bytes for the disk of one process, in
/// `/proc/self/io`; elsewhere they are `nil`, and `bench live` says so.
struct ProcessCost {
    /// The milliseconds on a processor, including time in the system.
    private(set) var processor: Double
    /// The number of times that a thread gave up its processor to wait, or lost it: each wait that ended was a wake-up.
    private(set) var switches: Double
    /// The bytes that will reach the disk. Writes into the same page before it is flushed count once.
    private(set) var written: Double?

    /// Reads the counters now.
    init() {
        var usage = rusage()
        // RUSAGE_SELF, which systems declare with different types. It fails only for an invalid address.
        _ = getrusage(0, &usage)
        processor = Self.milliseconds(usage.ru_utime) + Self.milliseconds(usage.ru_stime)
        switches = Double(usage.ru_nvcsw) + Double(usage.ru_nivcsw)
        // Only Linux has the file.
        written = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)).flatMap(Self.written)
    }

    private init(processor: Double, switches: Double, written: Double?) {
        self.processor = processor
        self.switches = switches
        self.written = written
    }

    /// Returns the cost between two readings, for each of a number of messages or seconds.
    func since(_ earlier: ProcessCost, each count: Double) -> ProcessCost {
        let bytes = written.flatMap { written in earlier.written.map { (written - $0) / count } }
        return ProcessCost(
            processor: (processor - earlier.processor) / count, switches: (switches - earlier.switches) / count,
            written: bytes)
    }

    /// - Parameter text: the content of `/proc/self/io`, a name and a number in each line.
    static func written(in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix("write_bytes: ") }
            .flatMap { Double($0.dropFirst("write_bytes: ".count)) }
    }

    private static func milliseconds(_ time: timeval) -> Double {
        Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000
    }
}
