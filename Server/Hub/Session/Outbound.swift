import TidemarkWire

/// What a session may still give to its socket: one budget over changes, pages, history, errors and ephemeral messages
/// . What does not fit stays where it is, in the ring, in the store or in the session's few answers.
struct Outbound: Sendable {
    /// The socket says that its buffer is full.
    private(set) var isSocketFull = false
    /// Bytes sent since the socket was last known to have room.
    private var bytes = 0
    /// The executor was asked to say when there is room.
    private var isAsked = false

    /// Nothing new may be sent.
    func isFull(_ limits: WireLimits) -> Bool { isSocketFull || bytes >= limits.outboundBytesMax }

    /// Bytes were sent. True when the executor is to be asked for room: before the budget is used up, so that a socket
    /// which takes what it gets never meets the bound.
    mutating func sent(_ count: Int, _ limits: WireLimits) -> Bool {
        bytes += count
        guard !isAsked, bytes >= limits.outboundBytesMax / 2 else { return false }
        isAsked = true
        return true
    }

    mutating func socketIsFull() { isSocketFull = true }

    mutating func socketHasRoom() {
        isSocketFull = false
        bytes = 0
        isAsked = false
    }
}
