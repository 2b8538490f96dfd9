/// The bounds of the files that an app and its extensions leave for each other.
public struct SharingLimits: Hashable, Sendable {
    /// The most writes of one user that wait to be adopted. Extensions that write at the same moment may exceed it by
    /// one each.
    public var maxWrites = 1_000
    /// The most bytes of these writes, including those of pictures and files.
    public var maxBytes = 64 << 20
    /// The most steps of one write: the server accepts as many mutations in one transaction.
    public var maxSteps = 64
    /// The most bytes of one write without those of `addBlob`: the server accepts as many in one transaction.
    public var maxWriteBytes = 256 << 10
    /// The most bytes of one picture or file: the store accepts as many unless its `BlobPolicy` says otherwise.
    public var maxBlobBytes = 16 << 20
    /// The most bytes of one published value: an extension for notifications may use 24 MB in all.
    public var maxPublishedBytes = 1 << 20

    public init() {}

    /// The most bytes of a spool file that is read at all.
    package var fileBytesMax: Int { min(maxBytes, maxWriteBytes + maxBlobBytes * maxSteps) + SealedFile.headBytesMax }
}
