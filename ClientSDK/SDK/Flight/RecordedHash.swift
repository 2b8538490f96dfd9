import TidemarkModel

/// A hash of 32 bits that identifies equal contents in a recording without holding them. A secret that can be guessed
/// is not safe behind it; a token cannot be guessed.
///
/// FNV-1a over words of eight bytes, since a frame of a catch-up has many.
struct RecordedHash: Hashable, Sendable {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(_ bytes: [UInt8]) { mix(bytes) }

    init(_ text: String) { mix(text) }

    mutating func mix(_ number: Int64) {
        state = (state ^ UInt64(bitPattern: number)) &* 0x100_0000_01b3
        state ^= state >> 29
    }

    mutating func mix(_ bytes: [UInt8]) { bytes.withUnsafeBytes { mix($0) } }

    mutating func mix(_ text: String) {
        var text = text
        text.withUTF8 { mix(UnsafeRawBufferPointer($0)) }
    }

    private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            mix(Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self)))
            offset += 8
        }
        var rest = Int64(bytes.count)
        for byte in bytes[offset...] { rest = rest << 8 | Int64(byte) }
        mix(rest)
    }

    private var value: UInt32 { UInt32(truncatingIfNeeded: state ^ (state >> 32)) }

    /// A substitute for a text: `#` and eight digits.
    var text: String {
        String(unsafeUninitializedCapacity: 9) { buffer in
            buffer[0] = UInt8(ascii: "#")
            Self.digits(value, 8) { buffer[1 + $0] = $1 }
            return 9
        }
    }

    /// Writes sixteen bits of the hash, four digits: enough for a value that is compared only with its neighbours.
    func writeShort(to writer: inout JSONWriter) {
        Self.digits(value ^ (value >> 16), 4) { writer.byte($1) }
    }

    private static func digits(_ value: UInt32, _ count: Int, _ put: (Int, UInt8) -> Void) {
        for index in 0..<count {
            let digit = UInt8(truncatingIfNeeded: value >> UInt32(4 * (count - 1 - index))) & 15
            put(index, digit < 10 ? 48 + digit : 87 + digit)
        }
    }
}
