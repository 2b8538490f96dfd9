/// FNV-1a of 32 bits: names equal contents in a recording without holding them. No secret is safe behind it that can be
/// guessed; a token cannot.
struct RecordedHash: Hashable, Sendable {
    private(set) var value: UInt32 = 0x811c_9dc5

    init() {}

    init(_ bytes: [UInt8]) { mix(bytes) }

    init(_ text: String) { mix(text) }

    mutating func mix(byte: UInt8) { value = (value ^ UInt32(byte)) &* 0x0100_0193 }

    mutating func mix(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { for byte in $0 { mix(byte: byte) } }
    }

    mutating func mix(_ text: String) { for byte in text.utf8 { mix(byte: byte) } }

    mutating func mix(_ number: Int64) {
        var rest = UInt64(bitPattern: number)
        for _ in 0..<8 {
            mix(byte: UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Sixteen bits of it, for what is compared with its neighbours alone.
    var short: UInt16 { UInt16(truncatingIfNeeded: value ^ (value >> 16)) }

    /// A stand-in for a text: `#` and eight digits.
    var text: String { "#" + Self.digits(UInt64(value), 8) }

    static func digits(_ value: UInt64, _ count: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
