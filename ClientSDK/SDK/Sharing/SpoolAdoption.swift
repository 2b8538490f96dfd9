public import Foundation

/// What an adoption of extensions' writes found.
public struct SpoolAdoption: Hashable, Sendable {
    /// The transactions that are in the outbox now, by creation; `SyncStore.receipt(for:)` follows each.
    public var adopted: [UUID] = []
    /// Those that the schema or its access rules refuse as the records are here: they are in `Outbox.parked()`, to be
    /// retried, edited or discarded.
    public var parked: [UUID] = []
    /// Files that cannot be adopted, and are in a folder of their own now.
    public var setAside: [SpoolFault] = []
    /// Writes of users who are not this store's. They stay until theirs is opened.
    public var ofOthers = 0
    /// Files that were being written when their extension ended, so that its call never returned; they were removed.
    public var unfinished = 0

    public init() {}
}

/// A file among the writes of extensions that cannot be adopted.
public struct SpoolFault: Hashable, Sendable, CustomStringConvertible {
    /// Why not.
    public enum Reason: String, Hashable, Sendable {
        /// Bytes are missing or are others than were written.
        case cut
        /// No file of this SDK, or another app's.
        case foreign
        /// Of a newer version of the SDK; it is tried again when the store opens the next time.
        case newer
        /// More bytes than `SharingLimits` allows.
        case tooLarge
        /// It writes to a collection that the schema does not have; it is tried again when the store opens the next time.
        case unknownCollection
        /// The store has no room for the picture or file in it, or takes none so large; it is tried again likewise.
        case bytes
        /// The system does not give the file, as while the phone is locked; it stays where it is and is tried again.
        case unreadable
    }

    /// Where the file is now.
    public var file: URL
    /// Why it is there.
    public var reason: Reason
    /// A sentence for a log.
    public var message: String

    public var description: String { message }
}
