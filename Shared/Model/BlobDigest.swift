/// The name of a blob: the SHA-256 of its bytes as 64 lower-case hexadecimal digits.
///
/// Two blobs with the same digest have the same bytes, so a record can hold the digest while the bytes are sent
/// separately.
public struct BlobDigest: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The digits, as used in addresses and records.
    public let text: String

    /// The number of digits.
    private static let digits = 64

    /// Checks digits from outside; `nil` for anything but 64 of `0`–`9` and `a`–`f`.
    public init?(checking text: String) {
        let isDigit = { (byte: UInt8) in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        guard text.utf8.count == Self.digits, text.utf8.allSatisfy(isDigit) else { return nil }
        self.text = text
    }

    /// Creates the digest from the result of a SHA-256 function.
    ///
    ///     BlobDigest(sha256: SHA256.hash(data: jpeg))
    ///
    /// - Parameter bytes: 32 of them; any other count is a programmer's error and traps.
    public init(sha256 bytes: some Sequence<UInt8>) {
        var digits: [UInt8] = []
        digits.reserveCapacity(Self.digits)
        for byte in bytes {
            for nibble in [byte >> 4, byte & 15] { digits.append(nibble < 10 ? 48 + nibble : 87 + nibble) }
        }
        precondition(digits.count == Self.digits, "a SHA-256 has 32 bytes")
        text = String(decoding: digits, as: UTF8.self)
    }

    public var description: String { text }

    public static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }
}
