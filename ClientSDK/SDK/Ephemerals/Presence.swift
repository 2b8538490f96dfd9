public import Foundation

/// Whether a user is online, as the server reports it. It is not stored, here or at the server.
public enum Presence: Hashable, Sendable {
    /// A device of theirs is connected.
    case online
    /// No device of theirs was connected since this server time.
    case lastSeen(Date)
    /// The server does not know, or there is no connection to it.
    case unknown
}
