import Crypto
import NIOCore
import TidemarkModel
import TidemarkStore

/// The bytes of one upload, hashed as they arrive.
struct BlobUpload {
    private let announced: Int
    private var bytes: [UInt8] = []
    private var hash = SHA256()

    /// - Parameter announced: the number of bytes that will arrive. Room is reserved for them now, of which the system
    ///   provides none before they arrive.
    init(announced: Int) {
        self.announced = announced
        bytes.reserveCapacity(announced)
    }

    /// Appends bytes; false when there are more than were announced.
    mutating func append(_ part: ByteBuffer) -> Bool {
        guard part.readableBytes <= announced - bytes.count else { return false }
        part.withUnsafeReadableBytes { part in
            bytes.append(contentsOf: part)
            hash.update(bufferPointer: part)
        }
        return true
    }

    /// The blob, under the digest of its bytes; `nil` while some are missing.
    var blob: Blob? {
        guard bytes.count == announced else { return nil }
        return Blob(digest: BlobDigest(sha256: hash.finalize()), bytes: bytes)
    }
}
