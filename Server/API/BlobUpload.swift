import Crypto
import NIOCore
import TidemarkModel
import TidemarkStore

/// The bytes of one upload, hashed as they come.
struct BlobUpload {
    private let announced: Int
    private var bytes: [UInt8] = []
    private var hash = SHA256()

    /// - Parameter announced: how many bytes will come; room is made for them now, of which the system gives none before
    ///   they do.
    init(announced: Int) {
        self.announced = announced
        bytes.reserveCapacity(announced)
    }

    /// False when more come than were announced.
    mutating func append(_ part: ByteBuffer) -> Bool {
        guard part.readableBytes <= announced - bytes.count else { return false }
        part.withUnsafeReadableBytes { part in
            bytes.append(contentsOf: part)
            hash.update(bufferPointer: part)
        }
        return true
    }

    /// The blob, under the name that its bytes have; `nil` while some are missing.
    var blob: Blob? {
        guard bytes.count == announced else { return nil }
        return Blob(digest: BlobDigest(sha256: hash.finalize()), bytes: bytes)
    }
}
