import Testing

@testable import TidemarkEdge

@Suite struct UTF8ValidationTests {
    private func isValid(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes(isValidUTF8) }

    @Test func `agrees with the standard library on every pair of bytes`() {
        for first in UInt8.min ... .max {
            for second in UInt8.min ... .max {
                let bytes = [first, second]
                let expected = String(validating: bytes, as: UTF8.self) != nil
                guard isValid(bytes) != expected else { continue }
                Issue.record("\(bytes)")
            }
        }
    }

    @Test func `agrees with the standard library on sequences made of boundary bytes`() {
        let bytes: [UInt8] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        let trailing: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0]
        for first in bytes where first >= 0xC0 {
            for second in bytes {
                for third in trailing {
                    for fourth in trailing {
                        let sequence = [first, second, third, fourth]
                        let expected = String(validating: sequence, as: UTF8.self) != nil
                        guard isValid(sequence) != expected else { continue }
                        Issue.record("\(sequence)")
                    }
                }
            }
        }
    }

    @Test func `a bad byte is found at every distance from the eight-byte steps`() {
        for length in 0..<20 {
            let ascii = [UInt8](repeating: 65, count: length)
            #expect(isValid(ascii))
            #expect(isValid(ascii + [0xE2, 0x82, 0xAC] + ascii))
            #expect(!isValid(ascii + [0x80] + ascii))
            #expect(!isValid(ascii + [0xF0, 0x9F, 0x98]))
        }
    }
}
