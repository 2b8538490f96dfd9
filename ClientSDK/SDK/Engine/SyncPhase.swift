/// Where the engine stands, as an app shows it.
public enum SyncPhase: Hashable, Sendable {
    /// Not asked to connect.
    case stopped
    /// On the way to the server.
    case connecting
    /// Connected; taking in what happened since.
    case catchingUp
    /// Connected and up to date; changes arrive as they happen.
    case live
    /// Something else than the network is in the way; the reason says what. The next attempt is at this time, in
    /// milliseconds since 1970.
    case waiting(until: Int64, reason: SyncFailure)
    /// The server cannot be reached; the next attempt is at this time, in milliseconds since 1970, or when the network
    /// comes back.
    case offline(until: Int64, reason: SyncFailure)
    /// The server refuses this app or user, or is not this store's, until something changes: a new sign-in, a new version,
    /// another address.
    case refused(reason: SyncFailure)

    /// The same with times that are so much later.
    func moved(by milliseconds: Int64) -> SyncPhase {
        switch self {
        case .waiting(let until, let reason): .waiting(until: until + milliseconds, reason: reason)
        case .offline(let until, let reason): .offline(until: until + milliseconds, reason: reason)
        case .stopped, .connecting, .catchingUp, .live, .refused: self
        }
    }

    /// The server hears what is said, and is heard.
    var isConnected: Bool {
        switch self {
        case .catchingUp, .live: true
        case .stopped, .connecting, .waiting, .offline, .refused: false
        }
    }
}
