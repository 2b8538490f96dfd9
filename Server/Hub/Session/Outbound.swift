import DequeModule
import TidemarkModel
package import TidemarkWire

/// The bytes that a session may still give to its socket: one budget for changes, pages, history, errors and ephemeral
/// messages. What does not fit stays in the ring, in the store or in the session's few answers.
struct Outbound: Sendable {
    /// True when the socket has reported a full buffer.
    private(set) var isSocketFull = false
    /// Bytes sent since the socket was last known to have room.
    private var bytes = 0
    /// True when the executor was asked to report room.
    private var isAsked = false

    /// Returns whether nothing new may be sent.
    func isFull(_ limits: WireLimits) -> Bool { isSocketFull || bytes >= limits.outboundBytesMax }

    /// Counts sent bytes. Returns true when the executor must be asked for room. That is before the budget is used up,
    /// so that a socket that drains never meets the bound.
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

/// The frames that were sent and not acknowledged.
struct SendWindow: Sendable {
    private var frames = Deque<(size: Int, seq: SequenceNumber)>()
    /// The bytes of frames that are not acknowledged.
    private(set) var bytes = 0
    /// The number that the last acknowledged frame reached.
    private var reached: SequenceNumber = 0
    /// Frames acknowledged since the connection began.
    private var acked: Int64 = 0
    /// The time at which the oldest of them was sent, or the last acknowledgement came; `nil` when all is acknowledged.
    private(set) var waitingSince: Milliseconds?

    /// Returns true when another frame may be sent: always one, however large.
    func hasRoom(for size: Int, limits: WireLimits) -> Bool {
        frames.isEmpty || (frames.count < limits.windowFramesMax && bytes + size <= limits.windowBytesMax)
    }

    /// Returns true when a connection that fell behind may be served again: half of the window is free.
    func isHalfFree(limits: WireLimits) -> Bool {
        frames.count <= limits.windowFramesMax / 2 && bytes <= limits.windowBytesMax / 2
    }

    /// Sets the client's position at the beginning.
    mutating func begin(at seq: SequenceNumber) { reached = seq }

    /// Returns the number up to which the client has acknowledged everything, if everything up to `position` was sent.
    func confirmed(of position: SequenceNumber) -> SequenceNumber { frames.isEmpty ? position : reached }

    /// - Parameter seq: the number that the frame reaches.
    mutating func sent(_ size: Int, through seq: SequenceNumber, now: Milliseconds) {
        frames.append((size, seq))
        bytes += size
        if waitingSince == nil { waitingSince = now }
    }

    /// Restarts the time for acknowledgements, after they could not be read for a while.
    mutating func readAgain(now: Milliseconds) {
        if waitingSince != nil { waitingSince = now }
    }

    /// Accepts a cumulative count; false when it claims frames that were never sent.
    mutating func acknowledge(_ count: Int64, now: Milliseconds) -> Bool {
        guard count <= acked + Int64(frames.count) else { return false }
        while acked < count, let frame = frames.popFirst() {
            acked += 1
            bytes -= frame.size
            reached = frame.seq
        }
        // An idle connection keeps no memory.
        if frames.isEmpty { frames = Deque() }
        waitingSince = frames.isEmpty ? nil : now
        return true
    }
}

/// The answer to a read. It waits until the stream has passed the state in which it was read, and access is judged
/// there.
struct HeldAnswer: Sendable {
    /// The request, with the scope and grant that it named.
    struct Request: Sendable {
        /// The message type of the request: `page`, `history` or `compare`.
        var kind: String
        var id: Int64
        var scope: ScopeID
        var since: SequenceNumber
    }

    var request: Request
    /// The head of the snapshot that it was read in.
    var at: SequenceNumber
    var bytes: [UInt8]
}

/// The bytes of one outbound message, shared by every connection that gets them.
///
/// A reference type so that the edge can recognise the same frame and turn it into socket bytes once.
package final class Frame: Sendable {
    package let bytes: [UInt8]
    /// The error that the frame reports, if it is one.
    package let refusal: ErrorCode?

    package init(_ bytes: [UInt8], refusal: ErrorCode? = nil) {
        self.bytes = bytes
        self.refusal = refusal
    }
}
