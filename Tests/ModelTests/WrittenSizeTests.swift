import Testing
import TidemarkModel

@Suite struct WrittenSizeTests {
    private static let plain: [FieldValue] = [
        .null, false, true, 0, .integer(.min), .integer(.max), 0.1, .double(-.greatestFiniteMagnitude),
        .double(-.leastNonzeroMagnitude), "", "text", "\u{1}", "\u{1}\u{1f}\"\\/", "é\n😀\u{7f}", [], .object(Fields()),
    ]

    @Test func `nothing is longer than was computed beforehand`() {
        for value in Self.plain { Self.expectBound(value) }
        for seed in 0..<500 {
            var random = SplitMix(seed: UInt64(seed))
            Self.expectBound(Self.value(depth: 3, &random))
        }
    }

    private static func expectBound(_ value: FieldValue) {
        #expect(value.json.utf8.count <= value.canonicalBytesMax, "\(value.json)")
        guard case .object(let fields) = value else { return }
        #expect(fields.canonicalBytes.count <= fields.canonicalBytesMax)
    }

    private static func value(depth: Int, _ random: inout SplitMix) -> FieldValue {
        let count = Int.random(in: 0...4, using: &random)
        switch depth > 0 ? Int.random(in: 0...3, using: &random) : 3 {
        case 0: return .array((0..<count).map { _ in value(depth: depth - 1, &random) })
        case 1:
            let names = (0..<count).map { "\(String(repeating: "\u{2}", count: $0))\(depth)" }
            return .object(names.reduce(into: Fields()) { $0[$1] = value(depth: depth - 1, &random) })
        default: return plain.randomElement(using: &random) ?? .null
        }
    }
}
