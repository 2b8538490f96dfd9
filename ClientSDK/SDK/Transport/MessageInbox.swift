/// The messages that wait for the app, or the app that waits for a message: a pure machine that returns what to do.
package struct MessageInbox<Waiter> {
    /// The result for a waiter.
    package enum Delivery {
        /// At least one message, in their order.
        case messages([[UInt8]])
        /// There will be no more messages.
        case failure(any Error)
    }

    private let messagesMax: Int
    private let bytesMax: Int
    private var messages: [[UInt8]] = []
    private var bytes = 0
    private var waiter: (id: UInt64, waiter: Waiter)?
    private var end: (any Error)?

    package init(messagesMax: Int, bytesMax: Int) {
        self.messagesMax = messagesMax
        self.bytesMax = bytesMax
    }

    /// Whether the socket should be read. One read can exceed the bounds once, by its own size.
    package var hasRoom: Bool { messages.count < messagesMax && bytes < bytesMax && end == nil }

    /// True when no more messages than the waiting ones will come.
    package var isOver: Bool { end != nil }

    /// Returns the waiter to resume with the message, or `nil` when it was stored.
    package mutating func deliver(_ message: [UInt8]) -> Waiter? {
        guard end == nil else { return nil }
        if let waiter {
            self.waiter = nil
            return waiter.waiter
        }
        messages.append(message)
        bytes += message.count
        return nil
    }

    /// Returns what to give the app at once, or `nil` when it now waits for one message.
    ///
    /// - Parameter most: the number of messages that it accepts.
    package mutating func take(_ id: UInt64, atMost most: Int, _ waiter: Waiter) -> Delivery? {
        if !messages.isEmpty {
            let taken = Array(messages.prefix(most))
            messages.removeFirst(taken.count)
            bytes -= taken.reduce(0) { $0 + $1.count }
            return .messages(taken)
        }
        if let end { return .failure(end) }
        guard self.waiter == nil else { return .failure(AlreadyReceiving()) }
        self.waiter = (id, waiter)
        return nil
    }

    /// Returns the waiter to resume as cancelled, if it is still the one that waits.
    package mutating func cancel(_ id: UInt64) -> Waiter? {
        guard let waiter, waiter.id == id else { return nil }
        self.waiter = nil
        return waiter.waiter
    }

    /// Returns the waiter to resume with the error. The first end is the true one; messages stored before can still be
    /// taken.
    package mutating func finish(_ error: any Error) -> Waiter? {
        guard end == nil else { return nil }
        end = error
        defer { waiter = nil }
        return waiter?.waiter
    }
}

/// A second `receive` began before the first ended.
package struct AlreadyReceiving: Error, Hashable, Sendable, CustomStringConvertible {
    package let description = "one receive at a time"

    package init() {}
}
