package import TidemarkModel

/// Bytes with their name.
package struct Blob: Hashable, Sendable {
    package let digest: BlobDigest
    package let bytes: [UInt8]

    /// - Parameter digest: computed from these bytes by whoever makes the value; a store does not do it again.
    package init(digest: BlobDigest, bytes: [UInt8]) {
        self.digest = digest
        self.bytes = bytes
    }

    /// The places where the parts begin in which databases keep the bytes, so that reading needs memory for one part.
    package var partStarts: StrideTo<Int> { stride(from: 0, to: bytes.count, by: Self.partBytes) }

    /// The offset at which the part begins that holds a byte of a blob.
    package static func partStart(of offset: Int) -> Int { offset - offset % partBytes }

    /// The part that begins at one of `partStarts`.
    package func part(from start: Int) -> ArraySlice<UInt8> { bytes.dropFirst(start).prefix(Self.partBytes) }

    /// What is stored goes on to be read when this changes: parts are found by where they begin.
    private static let partBytes = 256 * 1_024
}
