public import TidemarkModel

/// How far a transaction has come.
public enum WriteStep: Hashable, Sendable {
    /// Durable on this device, not sent yet.
    case queued
    /// On its way; the server may have it.
    case sending
    /// The server accepted it at this place of the workspace's order, at its own time. Both are 0 when the server settled
    /// it so long ago that it keeps no details.
    case committed(seq: SequenceNumber, time: Milliseconds)
    /// It was committed, and the server's database went back to before that: this device, which still has it, has offered it
    /// again. `committed` or `parked` follows, as for a new write; what was seen as `committed` is no longer so.
    case reoffered
    /// Refused for good and taken back; the payload waits among the parked transactions.
    case parked(Rejection)

    /// True for `committed` and `parked`.
    public var isFinal: Bool {
        switch self {
        case .queued, .sending, .reoffered: false
        case .committed, .parked: true
        }
    }
}
