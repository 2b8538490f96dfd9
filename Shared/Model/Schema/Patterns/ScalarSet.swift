/// A set of Unicode scalars: one character of a pattern, or a class of them.
struct ScalarSet: Hashable, Sendable {
    /// The ASCII scalars, a bit each.
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    /// All ranges, sorted, without overlaps.
    private(set) var ranges: [ClosedRange<UInt32>]

    private static let last: UInt32 = 0x10ffff

    init(_ ranges: [ClosedRange<UInt32>]) {
        var merged: [ClosedRange<UInt32>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let previous = merged.last, range.lowerBound <= previous.upperBound &+ 1 {
                merged[merged.count - 1] = previous.lowerBound...max(previous.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        self.ranges = merged
        for range in merged where range.lowerBound < 128 {
            for value in range.lowerBound...min(127, range.upperBound) {
                if value < 64 { low |= 1 << UInt64(value) } else { high |= 1 << UInt64(value - 64) }
            }
        }
    }

    init(_ scalar: Unicode.Scalar) { self.init([scalar.value...scalar.value]) }

    /// All other scalars.
    var complement: ScalarSet {
        var rest: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { rest.append(next...(range.lowerBound - 1)) }
            next = range.upperBound + 1
        }
        if next <= Self.last { rest.append(next...Self.last) }
        return ScalarSet(rest)
    }

    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return low & (1 << UInt64(value)) != 0 }
        if value < 128 { return high & (1 << UInt64(value - 64)) != 0 }
        var (start, end) = (0, ranges.count)
        while start < end {
            let middle = (start + end) / 2
            if value > ranges[middle].upperBound {
                start = middle + 1
            } else if value < ranges[middle].lowerBound {
                end = middle
            } else {
                return true
            }
        }
        return false
    }
}

extension ScalarSet {
    /// `\d`
    static let digits = ScalarSet([0x30...0x39])
    /// `\w`
    static let word = ScalarSet([0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a])
    /// `\s`: the white space and line ends of ECMAScript.
    static let space = ScalarSet([
        0x09...0x0d, 0x20...0x20, 0xa0...0xa0, 0x1680...0x1680, 0x2000...0x200a, 0x2028...0x2029, 0x202f...0x202f,
        0x205f...0x205f, 0x3000...0x3000, 0xfeff...0xfeff,
    ])
    /// The line ends that `.` leaves out.
    static let lineEnds = ScalarSet([0x0a...0x0a, 0x0d...0x0d, 0x2028...0x2029])
}
