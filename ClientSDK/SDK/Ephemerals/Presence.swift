public import Foundation

/// Whether a user is there, as the server says. Nothing of it is stored, here or at the server.
public enum Presence: Hashable, Sendable {
    /// A device of theirs is connected.
    case online
    /// None has been since this time of the server.
    case lastSeen(Date)
    /// The server does not know, or there is no connection to it.
    case unknown
}
