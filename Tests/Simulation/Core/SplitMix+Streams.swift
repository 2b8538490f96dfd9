import TidemarkModel

/// Each component has a stream of its own: one draw more in a component does not shift the others.
extension SplitMix {
    init(seed: UInt64, _ label: String) {
        // FNV-1a over the label keeps the streams of one seed apart.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in label.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        self.init(seed: seed &* 0x9e37_79b9_7f4a_7c15 ^ hash)
        _ = next()
    }

    /// A number from 0 up to, and without, `count`; 0 when there is none.
    mutating func below(_ count: Int) -> Int { count > 0 ? Int(next() % UInt64(count)) : 0 }

    mutating func within(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
    }

    /// True with a probability of so many in a thousand.
    mutating func chance(_ perMille: Int) -> Bool { below(1_000) < perMille }

    mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// A few of the elements, in their order; perhaps none.
    mutating func some<Element>(_ elements: [Element]) -> [Element] { elements.filter { _ in chance(500) } }
}
