/// A pattern as a tree.
indirect enum PatternNode: Hashable, Sendable {
    case one(ScalarSet)
    case start
    case end
    case sequence([PatternNode])
    case choice([PatternNode])
    /// `max` is `nil` without an upper bound.
    case repeated(PatternNode, min: Int, max: Int?)

    /// The largest number of instructions that the tree becomes; `nil` beyond the limit.
    var size: Int? {
        switch self {
        case .one, .start, .end: return 1
        case .sequence(let parts): return Self.sum(parts.map(\.size))
        case .choice(let parts):
            // A split before each alternative and a jump behind it, except at the last one.
            return Self.sum(parts.map(\.size) + [2 * (parts.count - 1)])
        case .repeated(let part, let min, let most):
            // An empty part makes no instructions, but writing it out takes time.
            guard let size = part.size.map({ $0 == 0 ? 1 : $0 }) else { return nil }
            guard let limit = most else { return Self.sum([Self.product(size, min), size + 2]) }
            return Self.sum([Self.product(size, min), Self.product(size + 1, limit - min)])
        }
    }

    /// True when no match can begin behind the start of the text.
    var isAnchored: Bool {
        switch self {
        case .start: true
        case .one, .end: false
        case .sequence(let parts): parts.first?.isAnchored ?? false
        case .choice(let parts): parts.allSatisfy(\.isAnchored)
        case .repeated(let part, let min, _): min > 0 && part.isAnchored
        }
    }

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow || product > PatternLimits.instructionsMax ? nil : product
    }

    private static func sum(_ sizes: [Int?]) -> Int? {
        var sum = 0
        for size in sizes {
            guard let size, sum + size <= PatternLimits.instructionsMax else { return nil }
            sum += size
        }
        return sum
    }
}
