public import Foundation
import TidemarkModel

/// An event during the opening of the database, for the app to show or log.
public enum StoreNotice: Hashable, Sendable {
    /// The file was damaged. It was moved aside, unsent writes were saved as far as they could be read, and the rest
    /// comes from the server again.
    case recovered(StoreRecovery)
    /// The file came from another installation, by a copy or a backup. It continues under a client id of its own.
    /// Writes that the other one may send too, and that would take effect twice, are in `Outbox.rejected()` for the app
    /// to decide.
    case copied
}

/// The report on what was saved of a damaged file.
public struct StoreRecovery: Hashable, Sendable, CustomStringConvertible {
    /// The present location of the damaged file.
    public var damaged: URL
    /// The first damage found.
    public var reason: String
    /// The number of transactions that will be sent.
    public var pending: Int
    /// The number of transactions in `Outbox.rejected()`: those there before, and those that may have arrived and would
    /// take effect twice.
    public var rejected: Int
    /// The number of transactions that could be read only in part.
    public var unreadable: Int
    /// The number of unsent blobs that will be sent.
    public var blobs: Int
    /// The number of unsent blobs whose bytes could not all be read.
    public var unreadableBlobs: Int

    /// Two sentences for the user.
    public var description: String {
        let lost = unreadable + unreadableBlobs
        return """
            the local database was damaged (\(reason)); of the unsent writes, \(pending) will be sent and \(rejected) wait \
            for a decision\(lost > 0 ? ", and \(lost) could not be read" : ""). The rest is fetched from the server again; \
            the damaged file is \(damaged.path)
            """
    }

    /// Returns the report for diagnostics, which keep it as long as the file exists.
    func stored(at now: Milliseconds) throws -> String {
        let damage = Diagnostics.Damage(
            found: Date(milliseconds: now), reason: reason, file: damaged.lastPathComponent, pending: pending,
            parked: rejected, unreadable: unreadable, blobs: blobs, unreadableBlobs: unreadableBlobs)
        return String(decoding: try JSONEncoder().encode(damage), as: UTF8.self)
    }
}
