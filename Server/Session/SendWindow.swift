import TidemarkModel
import TidemarkWire

/// The frames that were sent and not acknowledged.
struct SendWindow: Sendable {
    private var sizes: [Int] = []
    private var head = 0
    private var bytes = 0
    /// Frames acknowledged since the connection began.
    private var acked: Int64 = 0
    /// When the oldest of them was sent, or the last acknowledgement came; `nil` when all is acknowledged.
    private(set) var waitingSince: Milliseconds?

    /// True when another frame may go: always one, however large.
    func hasRoom(for size: Int, limits: WireLimits) -> Bool {
        let count = sizes.count - head
        return count == 0 || (count < limits.windowFramesMax && bytes + size <= limits.windowBytesMax)
    }

    /// True when a connection that fell behind may be served again: half of the window is free.
    func isHalfFree(limits: WireLimits) -> Bool {
        let count = sizes.count - head
        return count <= limits.windowFramesMax / 2 && bytes <= limits.windowBytesMax / 2
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
        guard frames <= acked + Int64(sizes.count - head) else { return false }
        while acked < frames {
            acked += 1
            bytes -= sizes[head]
            head += 1
        }
        if head == sizes.count {
            sizes.removeAll()
            head = 0
            waitingSince = nil
        } else {
            if head >= 64 {
                sizes.removeFirst(head)
                head = 0
            }
            waitingSince = now
        }
        return true
    }
}
