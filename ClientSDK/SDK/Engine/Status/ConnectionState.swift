/// The state of a store's connection, step by step; `SyncActivity` is what a status line shows.
public enum ConnectionState: Hashable, Sendable {
    /// The app did not ask to connect.
    case stopped
    /// Connecting to the server.
    case connecting
    /// Connected; the changes since the last connection are being taken in.
    case catchingUp
    /// Connected and up to date; changes arrive as they happen.
    case live
    /// The obstacle is not the network; the reason names it. The next attempt is at this time, in milliseconds since
    /// 1970.
    case waiting(until: Int64, reason: SyncFailure)
    /// The server cannot be reached. The next attempt is at this time, in milliseconds since 1970, or when the network
    /// is back.
    case offline(until: Int64, reason: SyncFailure)
    /// The server rejects this app or user, or is not this store's. Only a change helps: a new sign-in, a new version,
    /// another address.
    case rejected(reason: SyncFailure)

    /// Returns the state with its time later by this many milliseconds.
    func moved(by milliseconds: Int64) -> ConnectionState {
        switch self {
        case .waiting(let until, let reason): .waiting(until: until + milliseconds, reason: reason)
        case .offline(let until, let reason): .offline(until: until + milliseconds, reason: reason)
        case .stopped, .connecting, .catchingUp, .live, .rejected: self
        }
    }

    /// True when messages are sent and received.
    var isConnected: Bool {
        switch self {
        case .catchingUp, .live: true
        case .stopped, .connecting, .waiting, .offline, .rejected: false
        }
    }
}
