extension String {
    /// Creates the text of the bytes; `nil` if they are not valid UTF-8. It replaces `String(validating:as:)`, which
    /// requires iOS 18 and macOS 15.
    package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
        // Decoding repairs invalid bytes, so that the result differs from the input.
        self.init(decoding: bytes, as: UTF8.self)
        guard withUTF8({ isSame(UnsafeRawBufferPointer($0), UnsafeRawBufferPointer(bytes)) }) else { return nil }
    }
}

/// Compares eight bytes at a time. For a page of text that takes an eighth of the time of single bytes.
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
