// The names before the first release; they go with the one after it.
public import Foundation
public import TidemarkModel

@available(*, deprecated, renamed: "RecordModel")
public typealias SpoolModel = RecordModel
@available(*, deprecated, renamed: "SyncModelKey")
public typealias SyncModelPlace = SyncModelKey

extension SpoolBatch {
    @available(*, deprecated, renamed: "addBlob(_:in:)")
    @discardableResult
    public mutating func keep(_ bytes: Data, in scope: ScopeID) -> BlobDigest { addBlob(bytes, in: scope) }
}

extension SharingLimits {
    @available(*, deprecated, renamed: "maxWrites")
    public var writesMax: Int {
        get { maxWrites }
        set { maxWrites = newValue }
    }
    @available(*, deprecated, renamed: "maxBytes")
    public var bytesMax: Int {
        get { maxBytes }
        set { maxBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxSteps")
    public var stepsMax: Int {
        get { maxSteps }
        set { maxSteps = newValue }
    }
    @available(*, deprecated, renamed: "maxWriteBytes")
    public var writeBytesMax: Int {
        get { maxWriteBytes }
        set { maxWriteBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxBlobBytes")
    public var blobBytesMax: Int {
        get { maxBlobBytes }
        set { maxBlobBytes = newValue }
    }
    @available(*, deprecated, renamed: "maxPublishedBytes")
    public var publishedBytesMax: Int {
        get { maxPublishedBytes }
        set { maxPublishedBytes = newValue }
    }
}
