public import Foundation
public import TidemarkModel

extension BlobDigest {
    /// The digest of these bytes. Computing it reads all of them: a few milliseconds for a photo.
    public init(of bytes: Data) { self.init(sha256: ContentHash.hash(bytes)) }
}
