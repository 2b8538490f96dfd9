import DequeModule
import TidemarkModel
import TidemarkWire

/// The frames that were sent and not acknowledged.
struct SendWindow: Sendable {
    private var sizes = Deque<Int>()
    /// Of frames that are not acknowledged.
    private(set) var bytes = 0
    /// Frames acknowledged since the connection began.
    private var acked: Int64 = 0
    /// When the oldest of them was sent, or the last acknowledgement came; `nil` when all is acknowledged.
    private(set) var waitingSince: Milliseconds?

    /// True when another frame may go: always one, however large.
    func hasRoom(for size: Int, limits: WireLimits) -> Bool {
        sizes.isEmpty || (sizes.count < limits.windowFramesMax && bytes + size <= limits.windowBytesMax)
    }

    /// True when a connection that fell behind may be served again: half of the window is free.
    func isHalfFree(limits: WireLimits) -> Bool {
        sizes.count <= limits.windowFramesMax / 2 && bytes <= limits.windowBytesMax / 2
    }

    mutating func sent(_ size: Int, now: Milliseconds) {
        sizes.append(size)
        bytes += size
        if waitingSince == nil { waitingSince = now }
    }

    /// Acknowledgements could not be read for a while: the time for them begins anew.
    mutating func readAgain(now: Milliseconds) {
        if waitingSince != nil { waitingSince = now }
    }

    /// Takes a cumulative count; false when it claims frames that were never sent.
    mutating func acknowledge(_ frames: Int64, now: Milliseconds) -> Bool {
        guard frames <= acked + Int64(sizes.count) else { return false }
        while acked < frames, let size = sizes.popFirst() {
            acked += 1
            bytes -= size
        }
        // An idle connection keeps nothing.
        if sizes.isEmpty { sizes = Deque() }
        waitingSince = sizes.isEmpty ? nil : now
        return true
    }
}
