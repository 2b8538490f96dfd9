public import Foundation

/// The result of an adoption of extensions' writes.
public struct SpoolAdoption: Hashable, Sendable {
    /// The transactions that are in the outbox now, by creation; `SyncStore.receipt(for:)` follows each.
    public var adopted: [UUID] = []
    /// The transactions that the schema or its access rules reject with the records on the device. They are in
    /// `Outbox.rejected()`, to be retried, edited or discarded.
    public var rejected: [UUID] = []
    /// The files that cannot be adopted, and are in a separate folder now.
    public var faults: [SpoolFault] = []
    /// The number of writes by other users. They stay until that user's store is opened.
    public var writesOfOtherUsers = 0
    /// The number of unfinished files: their extension ended before its call returned. They were deleted.
    public var unfinished = 0

    public init() {}
}

/// A file among the writes of extensions that cannot be adopted.
public struct SpoolFault: Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public enum Reason: String, Hashable, Sendable {
        /// Bytes are missing or differ from those written.
        case cut
        /// The file is not one of this SDK, or belongs to another app.
        case foreign
        /// A newer version of the SDK wrote it; it is tried again when the store opens the next time.
        case newer
        /// It has more bytes than `SharingLimits` allows.
        case tooLarge
        /// It writes to a collection that the schema lacks; it is tried again when the store opens the next time.
        case unknownCollection
        /// The store has no room for the picture or file in it, or accepts none of this size; it is tried again
        /// likewise.
        case bytes
        /// The system withholds the file, as while the phone is locked; it stays and is tried again.
        case unreadable
    }

    /// The present location of the file.
    public var file: URL
    /// The reason why it is there.
    public var reason: Reason
    /// A sentence for a log.
    public var message: String

    public var description: String { message }
}
