public import Foundation
import TidemarkModel

/// Something that happened to the database when it was opened, for the app to tell its user or its log.
public enum StoreNotice: Hashable, Sendable {
    /// The file was damaged. It was moved aside, what was not sent yet was saved as far as it could be read, and the rest
    /// comes from the server again.
    case recovered(StoreRecovery)
    /// The file came from another installation, by a copy or a backup. It goes on under an identity of its own. What the
    /// other one may send too, and would count twice, is parked for the app to decide.
    case copied
}

/// What was saved of a damaged file.
public struct StoreRecovery: Hashable, Sendable, CustomStringConvertible {
    /// Where the damaged file is now.
    public var damaged: URL
    /// What was found first.
    public var reason: String
    /// Transactions that will be sent.
    public var pending: Int
    /// Transactions that are parked: those that were, and those that may have arrived and would count twice.
    public var parked: Int
    /// Transactions of which something could be read, and not enough.
    public var unreadable: Int
    /// Blobs that were not sent yet, and will be.
    public var blobs: Int
    /// Blobs that were not sent yet, of which not all bytes could be read.
    public var unreadableBlobs: Int

    /// Two sentences for a person.
    public var description: String {
        let lost = unreadable + unreadableBlobs
        return """
            the local database was damaged (\(reason)); of what was not sent, \(pending) are kept to be sent and \(parked) \
            to be decided on\(lost > 0 ? ", and \(lost) could not be read" : ""). The rest comes from the server again; the \
            damaged file is \(damaged.path)
            """
    }

    /// For diagnostics, as long as the file lives.
    func stored(at now: Milliseconds) throws -> String {
        let damage = Diagnostics.Damage(
            found: Date(milliseconds: now), reason: reason, file: damaged.lastPathComponent, pending: pending,
            parked: parked, unreadable: unreadable, blobs: blobs, unreadableBlobs: unreadableBlobs)
        return String(decoding: try JSONEncoder().encode(damage), as: UTF8.self)
    }
}
