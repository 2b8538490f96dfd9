import NIOCore

/// Messages that wait for the app, or the app that waits for a message: a pure machine that says what to do.
struct Inbox<Waiter> {
    enum Delivery {
        case messages([[UInt8]])
        case failure(any Error)
    }

    private let messagesMax: Int
    private let bytesMax: Int
    private var messages = CircularBuffer<[UInt8]>()
    private var bytes = 0
    private var waiter: (id: UInt64, waiter: Waiter)?
    private var end: (any Error)?

    init(messagesMax: Int, bytesMax: Int) {
        self.messagesMax = messagesMax
        self.bytesMax = bytesMax
    }

    /// Whether the socket should be read. What one read brings can exceed the bounds once, by the size of that read.
    var hasRoom: Bool { messages.count < messagesMax && bytes < bytesMax && end == nil }

    /// The waiter to resume with the message, or `nil` when it was stored.
    mutating func deliver(_ message: [UInt8]) -> Waiter? {
        guard end == nil else { return nil }
        if let waiter {
            self.waiter = nil
            return waiter.waiter
        }
        messages.append(message)
        bytes += message.count
        return nil
    }

    /// What to give the app at once, or `nil` when it now waits for one message.
    ///
    /// - Parameter most: messages that it takes.
    mutating func take(_ id: UInt64, atMost most: Int, _ waiter: Waiter) -> Delivery? {
        if !messages.isEmpty {
            let taken = Array(messages.prefix(most))
            messages.removeFirst(taken.count)
            bytes -= taken.reduce(0) { $0 + $1.count }
            return .messages(taken)
        }
        if let end { return .failure(end) }
        guard self.waiter == nil else {
            return .failure(NIOTransportError(.alreadyReceiving, "one receive at a time"))
        }
        self.waiter = (id, waiter)
        return nil
    }

    /// The waiter to resume as cancelled, if it is still the one that waits.
    mutating func cancel(_ id: UInt64) -> Waiter? {
        guard let waiter, waiter.id == id else { return nil }
        self.waiter = nil
        return waiter.waiter
    }

    /// The waiter to resume with the error. The first end is the true one; what was stored before can still be taken.
    mutating func finish(_ error: any Error) -> Waiter? {
        guard end == nil else { return nil }
        end = error
        defer { waiter = nil }
        return waiter?.waiter
    }
}
