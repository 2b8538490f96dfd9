/// Ids that are made of names and not by chance: devices that know nothing of each other make the same one.
///
/// A SHA-256 over the names, each behind its length in bytes as eight bytes, the highest first; its first 16 bytes with the
/// marks of a UUID of version 8. `Shared/SCHEMA.md` has an example.
package enum DerivedID {
    /// Ids that the same names make: the first is meant, the others are for when it is taken.
    package static let candidatesMax = 8

    /// - Parameter candidate: 0 for the first id of these names, up to `candidatesMax - 1`.
    package static func make(_ names: [String], candidate: Int = 0) -> UniqueID {
        var hash = ContentHash()
        for (index, name) in names.enumerated() {
            // No first name of a schema has a space in it.
            let text = index == 0 && candidate > 0 ? "\(name) \(candidate)" : name
            withUnsafeBytes(of: UInt64(text.utf8.count).bigEndian) { hash.update($0) }
            Array(text.utf8).withUnsafeBytes { hash.update($0) }
        }
        let words = hash.finalize().withUnsafeBytes { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return UniqueID(high: words.0 & ~0xf000 | 0x8000, low: words.1 & ~(3 << 62) | 1 << 63)
    }
}

extension UniqueID {
    /// A UUID of version 8: what ``DerivedID`` makes, and chance never does.
    package var isDerived: Bool { high & 0xf000 == 0x8000 && low >> 62 == 2 }
}
