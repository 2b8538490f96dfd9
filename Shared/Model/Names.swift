/// A short text identity: 1 to 128 bytes of UTF-8 without control characters.
public protocol NameID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The text as it is on the wire and in the database.
    var text: String { get }
    /// Creates the name from text that is known to be valid; use `init(checking:)` for input.
    init(_ text: String)
}

extension NameID {
    /// Checks length and characters; `nil` when the text is empty, longer than 128 bytes or holds a control character.
    public init?(checking text: String) {
        guard (1...128).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            return nil
        }
        self.init(text)
    }

    public var description: String { text }

    /// Compares bytes: two spellings of one character are two names, as in the database.
    public static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    public func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

    public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
}

/// A user, as named by the token's `sub`.
public struct UserID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// The tenant: one total order of changes, the first column of every key.
public struct WorkspaceID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }
}

/// The unit of access and of subscription: a conversation, a shop. For a record that is a scope, its `localID` as text.
public struct ScopeID: NameID {
    public let text: String
    public init(_ text: String) { self.text = text }

    /// The scope that the record `id` opens.
    public init(record id: LocalID) { self.init(id.description) }

    /// Returns the scope that the record opens.
    public static func of(_ id: LocalID) -> ScopeID { ScopeID(record: id) }
}

/// The position of a change in its workspace's order; 1 is the first, 0 means "before everything".
public typealias SequenceNumber = Int64
/// The number of one life of a workspace's order; it rises when the database has gone back to an older state.
public typealias Epoch = Int64
/// Milliseconds since 1970-01-01T00:00:00Z.
public typealias Milliseconds = Int64

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
        guard text.count == 36, let start = text.baseAddress else { return nil }
        // Reads eight digits at once: 8, then 4 and 4 around a hyphen, then 4 and 4, then 8. Each load stays within the
        // 36 bytes.
        let raw = UnsafeRawPointer(start)
        func word(_ offset: Int) -> UInt64 {
            UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        func half(_ offset: Int) -> UInt64 {
            UInt64(UInt32(bigEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        let hyphen = UInt8(ascii: "-")
        guard start[8] == hyphen, start[13] == hyphen, start[18] == hyphen, start[23] == hyphen,
            let first = Self.digits(word(0)), let second = Self.digits(half(9) << 32 | half(14)),
            let third = Self.digits(half(19) << 32 | half(24)), let fourth = Self.digits(word(28))
        else { return nil }
        self.init(high: first << 32 | second, low: third << 32 | fourth)
    }

    /// Returns the number that eight hexadecimal digits represent, the first in the highest byte; `nil` for other
    /// bytes.
    ///
    /// All eight bytes go through each step together. A byte above 127 is no digit and is refused first, so that no
    /// addition carries over into the next byte.
    @inline(__always)
    private static func digits(_ text: UInt64) -> UInt64? {
        let each: UInt64 = 0x0101_0101_0101_0101
        let top = each &* 0x80
        guard text & top == 0 else { return nil }
        /// The top bit of each byte that is at least the bound; both are below 128.
        func atLeast(_ bytes: UInt64, _ bound: UInt8) -> UInt64 { (bytes &+ (each &* UInt64(128 - bound))) & top }
        let lower = text | (each &* 0x20)
        // Upper-case letters have become lower-case ones; signs below 32 have become other signs, so digits are
        // compared as they were.
        let isDigit = atLeast(text, 48) & ~atLeast(text, 58)
        let isLetter = atLeast(lower, 97) & ~atLeast(lower, 103) & atLeast(text, 65)
        guard isDigit | isLetter == top else { return nil }
        var nibbles = (text & (each &* 0x0f)) &+ ((isLetter >> 7) &* 9)
        nibbles = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff
        nibbles = (nibbles | nibbles >> 8) & 0x0000_ffff_0000_ffff
        return (nibbles | nibbles >> 16) & 0xffff_ffff
    }

    /// Returns a version 7 UUID: 48 bits of `milliseconds` since 1970, the rest from the two random words.
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

}

/// The identity of a record: made by the device that creates it, and the same on every device.
public typealias LocalID = UniqueID
/// The identity of one transaction: made by the device, and unchanged however often it is sent.
public typealias TransactionID = UniqueID
/// The identity of one installed client database, bound to one user at its registration.
public typealias ClientID = UniqueID
