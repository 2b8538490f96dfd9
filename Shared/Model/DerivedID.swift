/// Ids that are made of names instead of random numbers: devices that know nothing of each other make the same one.
///
/// The id is the first 16 bytes of a SHA-256, with the version and variant bits of a UUID of version 8. The hash covers
/// the names, each preceded by its length in bytes as a big-endian number of eight bytes. `Shared/SCHEMA.md` has an
/// example.
package enum DerivedID {
    /// The number of ids that the same names can make. The first is the usual one; the others are for records whose
    /// first id is taken.
    package static let candidatesMax = 8

    /// - Parameter candidate: 0 for the first id of these names, up to `candidatesMax - 1`.
    package static func make(_ names: [String], candidate: Int = 0) -> UniqueID {
        var hash = ContentHash()
        for (index, name) in names.enumerated() {
            // The first name is an identifier of the schema, so it never contains a space.
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
    /// Whether the id is a UUID of version 8, which ``DerivedID`` makes and random ids never are.
    package var isDerived: Bool { high & 0xf000 == 0x8000 && low >> 62 == 2 }
}
