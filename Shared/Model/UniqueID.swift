/// A 128-bit identifier made by a device: the `localID` of a record, the id of a transaction or of a client.
///
/// Its text form is a lowercase UUID, e.g. `018f3a2b-0000-7000-8000-000000000001`. Ids order by their bits, so that
/// time-ordered UUIDs (version 7) sort by creation.
public struct UniqueID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    /// Takes the two halves as they are; no version or variant bits are set.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the 36-character text form in either case; `nil` for anything else.
    public init?(_ text: String) {
        var text = text
        guard let id = text.withUTF8({ UniqueID(utf8: $0) }) else { return nil }
        self = id
    }

    /// Reads the text form from bytes, without making a string of them.
    package init?(utf8 text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let nibble = Self.nibble(byte) else { return nil }
            if digits < 16 { halves.0 = halves.0 << 4 | nibble } else { halves.1 = halves.1 << 4 | nibble }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// A version 7 UUID: 48 bits of `milliseconds` since 1970, the rest from the two random words.
    public static func version7(milliseconds: Int64, random: (UInt64, UInt64)) -> UniqueID {
        let time = UInt64(bitPattern: milliseconds) << 16
        return UniqueID(high: time | 0x7000 | (random.0 & 0xfff), low: 1 << 63 | (random.1 >> 2))
    }

    public static func < (left: UniqueID, right: UniqueID) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            Self.write(high: high, low: low, into: buffer)
            return 36
        }
    }

    /// Writes the 36 bytes of the text form; the buffer must have room for them.
    package static func write(high: UInt64, low: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>) {
        var position = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                buffer[position] = UInt8(ascii: "-")
                position += 1
            }
            let word = digit < 16 ? high : low
            let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - (digit & 15) * 4)) & 15
            buffer[position] = nibble < 10 ? 48 + nibble : 87 + nibble
            position += 1
        }
    }

    private static func nibble(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 48...57: UInt64(byte - 48)
        case 97...102: UInt64(byte - 87)
        case 65...70: UInt64(byte - 55)
        default: nil
        }
    }
}

/// The device-made identity of a record, on every device from the first moment.
public typealias LocalID = UniqueID
/// The device-made identity of one transaction: unchanged however often it is sent.
public typealias TransactionID = UniqueID
/// The identity of one installed client database, bound to one user at its registration.
public typealias ClientID = UniqueID
