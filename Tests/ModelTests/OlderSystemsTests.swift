import Testing
import TidemarkModel

/// Replacements for parts of the standard library that older systems lack have the same results.
@Suite struct OlderSystemsTests {
    private static let numbers: [UInt128] = [
        0, 1, 0xff, UInt128(UInt64.max), UInt128(UInt64.max) + 1, 1 << 127, .max - 1, .max,
        0x09d6_adf2_f76f_cb50_75b8_3545_ecda_a6ba,
    ]

    private func sum(_ number: UInt128) -> DigestSum {
        DigestSum(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
    }

    @Test func `a digest's sum adds and is written as a number of 128 bits`() {
        for one in Self.numbers {
            let digits = String(one, radix: 16)
            let text = String(repeating: "0", count: 32 - digits.count) + digits
            #expect(sum(one).text == text && DigestSum(text: text) == sum(one))
            let bytes = (0..<20).map { $0 < 16 ? UInt8(truncatingIfNeeded: one >> (120 - 8 * $0)) : 7 }
            #expect(DigestSum(bigEndian: bytes) == sum(one))
            for other in Self.numbers {
                var more = sum(one)
                more &+= sum(other)
                #expect(more == sum(one &+ other), "\(one), \(other)")
            }
        }
        #expect(DigestSum(text: "0") == nil && DigestSum(text: String(repeating: "G", count: 32)) == nil)
    }

    @Test func `bytes are a text only if they are UTF-8, at every distance from the eight-byte steps`() {
        let tails: [[UInt8]] = [
            [], [0], [0x41], [0xc3, 0xbc], [0xef, 0xbf, 0xbd], [0xf0, 0x9f, 0x98, 0x80], [0x80], [0xc3], [0xc0, 0x80],
            [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xff, 0x41, 0x41], [0xe2, 0x28, 0xa1],
        ]
        for tail in tails {
            for length in 0..<20 {
                let bytes = [UInt8](repeating: 0x61, count: length) + tail + [UInt8](repeating: 0x62, count: length / 3)
                let text = bytes.withUnsafeBufferPointer { String(validUTF8: $0) }
                #expect(text == String(validating: bytes, as: UTF8.self), "\(bytes)")
            }
        }
    }
}
