package import TidemarkModel

/// Finds names of blobs in stored JSON: any 64 lower-case hexadecimal digits in a row, wherever they are. Apps keep
/// digests in texts and lists too, not only in fields that the schema declares as blobs. Digits written as `\u0061` are
/// found too.
///
/// In a longer row of digits each offset is tried: rather too much is kept than a named blob deleted.
package struct BlobNameSearch {
    private let wanted: Set<BlobDigest>
    package private(set) var found: Set<BlobDigest> = []

    package init(for wanted: Set<BlobDigest>) { self.wanted = wanted }

    /// Searches one text.
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

    /// Returns the digit at `index`, and the number of bytes that it is written with.
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
