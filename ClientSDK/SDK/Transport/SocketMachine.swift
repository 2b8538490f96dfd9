/// An open socket without the socket: what waits for the app, who waits for a message, when to read on, whether the server is
/// still there, and how it ended. SwiftNIO's transport and that of Apple's platforms carry out what it says. Pure.
package struct SocketMachine<Waiter> {
    private var inbox: MessageInbox<Waiter>
    private var watch: SilenceWatch
    private var isHeldBack = false
    /// A close frame was sent: what comes is read on and dropped until the answer.
    package private(set) var isClosing = false

    package init(messagesMax: Int, bytesMax: Int, timing: SilenceWatch.Timing, now: Duration) {
        inbox = MessageInbox(messagesMax: messagesMax, bytesMax: bytesMax)
        watch = SilenceWatch(timing, now: now)
    }

    // MARK: The network

    /// Whether to read on now; if not, `resume` says when.
    package mutating func mayRead(now: Duration) -> Bool {
        if inbox.hasRoom || isClosing { return true }
        isHeldBack = true
        watch.heldBack(now: now)
        return false
    }

    /// True once after reading was held back, when there is room again.
    package mutating func resume(now: Duration) -> Bool {
        guard isHeldBack, inbox.hasRoom || isClosing else { return false }
        isHeldBack = false
        watch.resumed(now: now)
        return true
    }

    /// A ping, an answer to one, or a part of a message.
    package mutating func heard(now: Duration) { watch.heard(now: now) }

    /// A whole message: the waiter to resume with it, or `nil` when it was stored.
    package mutating func arrived(_ message: [UInt8], now: Duration) -> Waiter? {
        watch.heard(now: now)
        return inbox.deliver(message)
    }

    /// The connection is over, or is being closed: the waiter to resume with the error. The first end is the one that is told.
    package mutating func end(_ error: any Error) -> Waiter? { inbox.finish(error) }

    /// A close frame goes out; false when one went out before.
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

    /// The connection ended: there is nothing to look for any more.
    package var isOver: Bool { inbox.isOver }

    /// When to look.
    package var due: Duration { watch.due }

    /// See ``SilenceWatch/look(now:)``.
    package mutating func look(now: Duration) -> SilenceWatch.Verdict { watch.look(now: now) }
}
