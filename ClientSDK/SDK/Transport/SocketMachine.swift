/// An open socket without the socket. It holds the messages that wait for the app, or the waiting app. It decides when
/// to read on, whether the server is still there, and how the connection ended. SwiftNIO's transport and that of
/// Apple's platforms carry out what it returns. Pure.
package struct SocketMachine<Waiter> {
    private var inbox: MessageInbox<Waiter>
    private var watch: SilenceWatch
    private var isHeldBack = false
    /// True when a close frame was sent: messages are read and dropped until the answer.
    package private(set) var isClosing = false

    package init(messagesMax: Int, bytesMax: Int, timing: SilenceWatch.Timing, now: Duration) {
        inbox = MessageInbox(messagesMax: messagesMax, bytesMax: bytesMax)
        watch = SilenceWatch(timing, now: now)
    }

    // MARK: The network

    /// Returns whether to read on now; if not, `resume` returns true when it is time.
    package mutating func mayRead(now: Duration) -> Bool {
        if inbox.hasRoom || isClosing { return true }
        isHeldBack = true
        watch.heldBack(now: now)
        return false
    }

    /// True while reading is held back although there is room again.
    package var isToResume: Bool { isHeldBack && (inbox.hasRoom || isClosing) }

    /// Returns true once after reading was held back, when there is room again.
    package mutating func resume(now: Duration) -> Bool {
        guard isToResume else { return false }
        isHeldBack = false
        watch.resumed(now: now)
        return true
    }

    /// Notes a ping, an answer to one, or a part of a message.
    package mutating func heard(now: Duration) { watch.heard(now: now) }

    /// Takes a whole message: returns the waiter to resume with it, or `nil` when it was stored.
    package mutating func arrived(_ message: [UInt8], now: Duration) -> Waiter? {
        watch.heard(now: now)
        return inbox.deliver(message)
    }

    /// Notes that the connection ended, or is being closed: returns the waiter to resume with the error. The first end
    /// is the one that is reported.
    package mutating func end(_ error: any Error) -> Waiter? { inbox.finish(error) }

    /// Notes that a close frame is sent; returns false when one was sent before.
    package mutating func close() -> Bool {
        defer { isClosing = true }
        return !isClosing
    }

    // MARK: The app

    /// See ``MessageInbox/take(_:atMost:_:)``.
    package mutating func take(_ id: UInt64, atMost most: Int, _ waiter: Waiter) -> MessageInbox<Waiter>.Delivery? {
        inbox.take(id, atMost: most, waiter)
    }

    /// See ``MessageInbox/cancel(_:)``.
    package mutating func cancel(_ id: UInt64) -> Waiter? { inbox.cancel(id) }

    // MARK: Time

    /// True when the connection ended: there is nothing to look for any more.
    package var isOver: Bool { inbox.isOver }

    /// The time of the next look.
    package var due: Duration { watch.due }

    /// See ``SilenceWatch/look(now:)``.
    package mutating func look(now: Duration) -> SilenceWatch.Verdict { watch.look(now: now) }
}
