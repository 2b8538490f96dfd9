public import Foundation
public import TidemarkModel

extension BlobDigest {
    /// The name of these bytes. Reads all of them: a few milliseconds for a photo.
    public init(of bytes: Data) { self.init(sha256: ContentHash.hash(bytes)) }
}
