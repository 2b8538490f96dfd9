package import TidemarkModel

/// Finds names of blobs in stored JSON: any 64 lower-case hexadecimal digits in a row, wherever they stand, since apps keep
/// digests in texts and lists and not only in fields that the schema calls blobs. Digits that are written as `\u0061` count too.
///
/// Digits in a longer row count at each place: what is too much is kept, and what is named never goes.
package struct BlobNameSearch {
    private let wanted: Set<BlobDigest>
    package private(set) var found: Set<BlobDigest> = []

    package init(for wanted: Set<BlobDigest>) { self.wanted = wanted }

    /// Looks through one text.
    package mutating func look(through bytes: [UInt8]) {
        var row: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if let (digit, length) = Self.digit(in: bytes, at: index) {
                row.append(digit)
                index += length
            } else {
                take(row)
                row.removeAll(keepingCapacity: true)
                index += 1
            }
        }
        take(row)
    }

    private mutating func take(_ row: [UInt8]) {
        guard row.count >= Self.digits else { return }
        for start in 0...(row.count - Self.digits) {
            let text = String(decoding: row[start..<start + Self.digits], as: UTF8.self)
            if let digest = BlobDigest(checking: text), wanted.contains(digest) { found.insert(digest) }
        }
    }

    private static let digits = 64

    /// The digit that begins at a place, and how many bytes it is written with.
    private static func digit(in bytes: [UInt8], at index: Int) -> (UInt8, Int)? {
        if isDigit(bytes[index]) { return (bytes[index], 1) }
        guard bytes[index] == UInt8(ascii: "\\"), index + 6 <= bytes.count,
            bytes[index + 1..<index + 4].elementsEqual("u00".utf8),
            let high = Character(Unicode.Scalar(bytes[index + 4])).hexDigitValue,
            let low = Character(Unicode.Scalar(bytes[index + 5])).hexDigitValue
        else { return nil }
        let byte = UInt8(high * 16 + low)
        return isDigit(byte) ? (byte, 6) : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
