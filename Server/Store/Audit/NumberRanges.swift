/// The set of numbers that have been seen, as ranges without gaps. It holds the batches of a workspace in any order,
/// and needs little memory as long as they come nearly in order.
package struct NumberRanges: Hashable, Sendable {
    /// The maximum number of ranges that are kept: some 16 MB. An order with so many gaps is damaged.
    package static let rangesMax = 1_000_000
    /// Rising; no two of them are adjacent.
    package private(set) var ranges: [ClosedRange<Int64>] = []

    package init() {}

    /// The result of an insertion.
    package enum Insertion: Hashable, Sendable {
        case added
        /// Some of its numbers were present already: nothing was added.
        case overlaps
        /// There are too many gaps: nothing was added.
        case full
    }

    /// Adds a range.
    package mutating func insert(_ range: ClosedRange<Int64>) -> Insertion {
        let index = firstIndex(endingAtOrAfter: range.lowerBound)
        if index < ranges.count, ranges[index].lowerBound <= range.upperBound { return .overlaps }
        let joinsBefore = index > 0 && ranges[index - 1].upperBound == range.lowerBound - 1
        let joinsAfter = index < ranges.count && ranges[index].lowerBound - 1 == range.upperBound
        switch (joinsBefore, joinsAfter) {
        case (true, true):
            ranges[index - 1] = ranges[index - 1].lowerBound...ranges[index].upperBound
            ranges.remove(at: index)
        case (true, false): ranges[index - 1] = ranges[index - 1].lowerBound...range.upperBound
        case (false, true): ranges[index] = range.lowerBound...ranges[index].upperBound
        case (false, false):
            guard ranges.count < Self.rangesMax else { return .full }
            ranges.insert(range, at: index)
        }
        return .added
    }

    /// Returns whether a number was seen.
    package func contains(_ number: Int64) -> Bool {
        let index = firstIndex(endingAtOrAfter: number)
        return index < ranges.count && ranges[index].contains(number)
    }

    /// Returns the numbers after `number` and through `end` that were not seen.
    package func gaps(after number: Int64, through end: Int64) -> [ClosedRange<Int64>] {
        var gaps: [ClosedRange<Int64>] = []
        var last = number
        for range in ranges where range.upperBound > number {
            if range.lowerBound > last, range.lowerBound - 1 > last {
                let upper = min(range.lowerBound - 1, end)
                if upper > last { gaps.append(last + 1...upper) }
            }
            last = max(last, range.upperBound)
            if last >= end { return gaps }
        }
        if end > last { gaps.append(last + 1...end) }
        return gaps
    }

    private func firstIndex(endingAtOrAfter number: Int64) -> Int {
        if let last = ranges.last, last.upperBound < number { return ranges.count }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
