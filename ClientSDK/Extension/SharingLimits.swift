/// Bounds of what an app and its extensions leave for each other.
public struct SharingLimits: Hashable, Sendable {
    /// Writes of one user that wait to be adopted. Several extensions that write at one moment may be over it by one each.
    public var writesMax = 1_000
    /// Bytes of these, with the bytes of pictures and files.
    public var bytesMax = 64 << 20
    /// Steps of one write: what the server takes of mutations in one transaction.
    public var stepsMax = 64
    /// Bytes of one write without those of `keep`: what the server takes in one transaction.
    public var writeBytesMax = 256 << 10
    /// Bytes of one picture or file: what the store takes unless its `BlobPolicy` says otherwise.
    public var blobBytesMax = 16 << 20
    /// Bytes of one published value: an extension for notifications may use 24 MB in all.
    public var publishedBytesMax = 1 << 20

    public init() {}

    /// Bytes of a file of the spool that are read at all.
    package var fileBytesMax: Int { min(bytesMax, writeBytesMax + blobBytesMax * stepsMax) + SealedFile.headBytesMax }
}
