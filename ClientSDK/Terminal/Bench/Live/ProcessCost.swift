import Foundation

/// What this process has taken of the machine since it began.
///
/// Processor time and changes of threads are every system's to tell. What was written for the disk only Linux tells of one
/// process, in `/proc/self/io`: elsewhere it is `nil`, and `bench live` says so.
struct ProcessCost {
    /// Milliseconds on a processor, in the system's part too.
    private(set) var processor: Double
    /// How often a thread gave its processor up to wait, or lost it: each wait that ended was a wake-up.
    private(set) var switches: Double
    /// Bytes that are to reach the disk. What is written into the same page before it is flushed counts once.
    private(set) var written: Double?

    /// Reads the counters now.
    init() {
        var usage = rusage()
        // RUSAGE_SELF, which systems declare with different types. Fails only for an address that is not ours.
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

    /// What was taken between two readings, for each of so many messages or seconds.
    func since(_ earlier: ProcessCost, each count: Double) -> ProcessCost {
        let bytes = written.flatMap { written in earlier.written.map { (written - $0) / count } }
        return ProcessCost(
            processor: (processor - earlier.processor) / count, switches: (switches - earlier.switches) / count,
            written: bytes)
    }

    /// - Parameter text: of `/proc/self/io`, a name and a number in each line.
    static func written(in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix("write_bytes: ") }
            .flatMap { Double($0.dropFirst("write_bytes: ".count)) }
    }

    private static func milliseconds(_ time: timeval) -> Double {
        Double(time.tv_sec) * 1_000 + Double(time.tv_usec) / 1_000
    }
}
