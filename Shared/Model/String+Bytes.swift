/// Strings compared by their bytes. Swift's own `==`, `<` and hash treat all spellings of a text as one (canonical
/// equivalence); the wire, the databases and other languages do not.
extension String {
    /// Returns a number below zero if these bytes come before the other's, and zero if they are the same.
    package func byteOrder(_ other: String) -> Int {
        let order = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                for index in 0..<min(left.count, right.count) where left[index] != right[index] {
                    return Int(left[index]) - Int(right[index])
                }
                return left.count - right.count
            }
        }
        // Only a bridged string, such as Foundation's on Apple systems, has no storage to compare.
        return order.flatMap { $0 }
            ?? (utf8.elementsEqual(other.utf8) ? 0 : utf8.lexicographicallyPrecedes(other.utf8) ? -1 : 1)
    }

    /// Stricter than `==`, which also holds for different spellings of one character.
    package func hasSameBytes(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                Self.areSame(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right))
            }
        }
        // Only a bridged string, such as Foundation's on Apple systems, has no storage to compare.
        return isSame.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }

    /// Compares eight bytes at a time: the sequencer compares names and ids more than anything else.
    private static func areSame(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        var offset = 0
        while left.count - offset >= 8 {
            let (one, other) = (
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self),
                right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard one == other else { return false }
            offset += 8
        }
        while offset < left.count {
            guard left[offset] == right[offset] else { return false }
            offset += 1
        }
        return true
    }

    /// Hashes the bytes that ``hasSameBytes(as:)`` compares. Swift's own hash is the same for all spellings of a text,
    /// so an attacker who chooses the spellings could fill one bucket of a table.
    func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xff as UInt8)
    }

    /// Returns the text, or its beginning followed by `…`, in at most `bytes` bytes, for messages that quote input. A
    /// count of characters bounds nothing, since one character may have any number of bytes.
    ///
    /// - Parameter bytes: at least 3.
    package func excerpt(bytes: Int = 64) -> String {
        guard utf8.count > bytes else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: bytes - 3)
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end]) + "…"
    }
}
