/// Measured times, in a bounded amount of memory.
struct LatencyLog: Sendable {
    /// The most samples that are kept (16 MiB); further ones are dropped.
    static let samplesMax = 4_000_000

    /// The times in nanoseconds: half the memory of whole numbers, with seven digits, which are more than a clock has.
    private var samples: [Float] = []

    init() {}

    /// Joins the times of several logs, up to the bound of one.
    init(joining logs: [LatencyLog]) {
        for log in logs { samples.append(contentsOf: log.samples.prefix(Self.samplesMax - samples.count)) }
    }

    var count: Int { samples.count }

    mutating func record(nanoseconds: UInt64) {
        guard samples.count < Self.samplesMax else { return }
        samples.append(Float(nanoseconds))
    }

    mutating func removeAll() { samples.removeAll(keepingCapacity: true) }

    /// Returns the times of several shares with one sort.
    func percentiles(_ shares: [Double]) -> [Double] {
        guard !samples.isEmpty else { return shares.map { _ in 0 } }
        let sorted = samples.sorted()
        return shares.map { share in
            let rank = Int((Double(sorted.count) * share).rounded(.up)) - 1
            return Double(sorted[min(max(rank, 0), sorted.count - 1)]) / 1_000_000
        }
    }
}
