package import TidemarkModel

/// Bytes with the digest that names them.
package struct Blob: Hashable, Sendable {
    package let digest: BlobDigest
    package let bytes: [UInt8]

    /// - Parameter digest: computed from these bytes by the caller; a store does not compute it again.
    package init(digest: BlobDigest, bytes: [UInt8]) {
        self.digest = digest
        self.bytes = bytes
    }

    /// The offsets of the parts in which databases keep the bytes, so that reading needs memory for one part only.
    package var partStarts: StrideTo<Int> { stride(from: 0, to: bytes.count, by: Self.partBytes) }

    /// Returns the offset of the part that holds the byte at `offset` of a blob.
    package static func partStart(of offset: Int) -> Int { offset - offset % partBytes }

    /// Returns the part that begins at one of `partStarts`.
    package func part(from start: Int) -> ArraySlice<UInt8> { bytes.dropFirst(start).prefix(Self.partBytes) }

    /// Stored blobs remain readable when this changes: parts are found by their offsets.
    private static let partBytes = 256 * 1_024
}
