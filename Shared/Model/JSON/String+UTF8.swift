extension String {
    /// The text of the bytes; `nil` where they are no UTF-8. As `String(validating:as:)`, which begins with iOS 18 and macOS 15.
    package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        // What is invalid is repaired, and so differs from what was given.
        self.init(decoding: bytes, as: UTF8.self)
        guard withUTF8({ isSame(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(bytes)) }) else { return nil }
    }
}

/// Eight bytes at a time: for a page of text, an eighth of the time of one after the other.
private func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
    guard one.count == other.count else { return false }
    var index = 0
    while index + 8 <= one.count {
        let words = (
            one.loadUnaligned(fromByteOffset: index, as: UInt64.self),
            other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        )
        guard words.0 == words.1 else { return false }
        index += 8
    }
    while index < one.count {
        guard one[index] == other[index] else { return false }
        index += 1
    }
    return true
}
