import Testing
import TidemarkStore

@Suite struct NumberRangesTests {
    @Test func `ranges in order become one, and so do ranges in any order`() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let parts: [ClosedRange<Int64>] = [1...4, 5...5, 6...9, 10...20]
            var ranges = NumberRanges()
            for index in order { #expect(ranges.insert(parts[index]) == .added) }
            #expect(ranges.ranges == [1...20])
        }
    }

    @Test func `an overlap is refused, and changes nothing`() {
        var ranges = NumberRanges()
        for range: ClosedRange<Int64> in [1...4, 10...12] { #expect(ranges.insert(range) == .added) }
        for range: ClosedRange<Int64> in [4...5, 9...10, 11...11, 1...20, 12...13, 2...3] {
            #expect(ranges.insert(range) == .overlaps, "\(range)")
        }
        #expect(ranges.ranges == [1...4, 10...12])
    }

    @Test func `gaps are found between, before and after`() {
        var ranges = NumberRanges()
        for range: ClosedRange<Int64> in [3...4, 10...12] { #expect(ranges.insert(range) == .added) }
        #expect(ranges.gaps(after: 0, through: 14) == [1...2, 5...9, 13...14])
        #expect(ranges.gaps(after: 4, through: 12) == [5...9])
        #expect(ranges.gaps(after: 11, through: 12).isEmpty)
        #expect(NumberRanges().gaps(after: 0, through: 2) == [1...2])
        #expect(ranges.contains(3) && ranges.contains(12) && !ranges.contains(5) && !ranges.contains(13))
    }

    @Test func `the largest number is an ordinary one`() {
        var ranges = NumberRanges()
        #expect(ranges.insert(.max - 1 ... .max) == .added)
        #expect(ranges.insert(.max ... .max) == .overlaps)
        #expect(ranges.insert(1...(.max - 2)) == .added)
        #expect(ranges.ranges == [1 ... .max] && ranges.gaps(after: 0, through: .max).isEmpty)
    }
}
