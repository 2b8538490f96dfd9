/// Measured times, in a bounded amount of memory.
struct LatencyLog: Sendable {
    /// Beyond this, times are counted but not kept: 16 MiB.
    static let samplesMax = 4_000_000

    /// Nanoseconds: half the memory of whole numbers, and seven digits are more than a clock has.
    private var samples: [Float] = []

    init() {}

    /// All times of several logs, as many as one may hold.
    init(joining logs: [LatencyLog]) {
        for log in logs { samples.append(contentsOf: log.samples.prefix(Self.samplesMax - samples.count)) }
    }

    var count: Int { samples.count }

    mutating func record(nanoseconds: UInt64) {
        guard samples.count < Self.samplesMax else { return }
        samples.append(Float(nanoseconds))
    }

    mutating func removeAll() { samples.removeAll(keepingCapacity: true) }

    /// The time that the given share (0…1) of samples does not exceed, in milliseconds; 0 without samples.
    func milliseconds(at share: Double) -> Double { percentiles([share])[0] }

    /// Several shares with one sort.
    func percentiles(_ shares: [Double]) -> [Double] {
        guard !samples.isEmpty else { return shares.map { _ in 0 } }
        let sorted = samples.sorted()
        return shares.map { share in
            let rank = Int((Double(sorted.count) * share).rounded(.up)) - 1
            return Double(sorted[min(max(rank, 0), sorted.count - 1)]) / 1_000_000
        }
    }
}
