public import TidemarkModel

/// The progress of a transaction.
public enum WriteStep: Hashable, Sendable {
    /// Durable on this device, not sent yet.
    case queued
    /// Being sent; the server may have it.
    case sending
    /// The server accepted it at this position of the workspace's order, at its own time. Both are 0 when the server
    /// settled it so long ago that it keeps no details.
    case committed(seq: SequenceNumber, time: Milliseconds)
    /// It was committed, and then the server's database went back to before that. This device still has it, and has
    /// offered it again. `committed` or `rejected` follows, as for a new write; the earlier `committed` is no longer
    /// true.
    case resending
    /// Rejected by the server for good, and undone; `Outbox.rejected()` has the payload.
    case rejected(Rejection)

    /// True for `committed` and `rejected`.
    public var isFinal: Bool {
        switch self {
        case .queued, .sending, .resending: false
        case .committed, .rejected: true
        }
    }
}
