/// A number of 128 bits in two halves: a sum of terms of a digest, or one term. The standard library's `UInt128`
/// requires iOS 18 and macOS 15.
package struct DigestSum: Hashable, Sendable {
    package private(set) var high: UInt64
    package private(set) var low: UInt64

    /// The sum of no terms.
    package static let zero = DigestSum(high: 0, low: 0)

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the first 16 bytes, big-endian; missing bytes are zeros at the front.
    package init(bigEndian bytes: some Sequence<UInt8>) {
        self = bytes.prefix(16).reduce(into: .zero) { sum, byte in sum.append(UInt64(byte), bits: 8) }
    }

    /// Reads ``text``; `nil` for anything but 32 digits of `0`–`9` and `a`–`f`.
    package init?(text: String) {
        guard text.utf8.count == 32 else { return nil }
        self = .zero
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): append(UInt64(byte - UInt8(ascii: "0")), bits: 4)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): append(UInt64(byte - UInt8(ascii: "a") + 10), bits: 4)
            default: return nil
            }
        }
    }

    /// The number as 32 lower-case hexadecimal digits.
    package var text: String { Self.digits(high) + Self.digits(low) }

    /// Adds modulo 2^128.
    package static func &+= (left: inout Self, right: Self) {
        let (low, carries) = left.low.addingReportingOverflow(right.low)
        left.low = low
        left.high &+= right.high &+ (carries ? 1 : 0)
    }

    private mutating func append(_ digit: UInt64, bits: UInt64) {
        high = high << bits | low >> (64 - bits)
        low = low << bits | digit
    }

    private static func digits(_ half: UInt64) -> String {
        let digits = String(half, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
