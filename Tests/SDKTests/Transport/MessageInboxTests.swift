import Testing

@testable import Tidemark

@Suite struct MessageInboxTests {
    private struct Lost: Error {}

    private func message(_ delivery: MessageInbox<Int>.Delivery?) -> [UInt8]? {
        if case .messages(let messages)? = delivery, messages.count == 1 { messages[0] } else { nil }
    }

    private func failure(_ delivery: MessageInbox<Int>.Delivery?) -> (any Error)? {
        if case .failure(let error)? = delivery { error } else { nil }
    }

    @Test func `a message goes to the waiter, or waits its turn`() {
        var inbox = MessageInbox<Int>(messagesMax: 9, bytesMax: 99)
        let waits = inbox.take(1, atMost: 1, 11)
        #expect(waits == nil)
        let resumed = inbox.deliver([1])
        #expect(resumed == 11)
        let stored = [[2], [3]].map { inbox.deliver($0) }
        #expect(stored == [nil, nil])
        let taken = [2, 3].map { message(inbox.take($0, atMost: 1, 0)) }
        #expect(taken == [[2], [3]])
    }

    @Test func `waiting messages are received together, as many as are wanted`() {
        var inbox = MessageInbox<Int>(messagesMax: 3, bytesMax: 99)
        for byte in 1...3 as ClosedRange<UInt8> { _ = inbox.deliver([byte]) }
        guard case .messages([[1], [2]])? = inbox.take(1, atMost: 2, 0) else {
            Issue.record("not the first two")
            return
        }
        #expect(inbox.hasRoom)
        #expect(message(inbox.take(2, atMost: .max, 0)) == [3])
    }

    @Test func `there is room until one of the bounds is reached`() {
        var byCount = MessageInbox<Int>(messagesMax: 2, bytesMax: 99)
        _ = byCount.deliver([1])
        #expect(byCount.hasRoom)
        _ = byCount.deliver([2])
        #expect(!byCount.hasRoom)
        _ = byCount.take(1, atMost: 1, 0)
        #expect(byCount.hasRoom)
        var byBytes = MessageInbox<Int>(messagesMax: 9, bytesMax: 4)
        _ = byBytes.deliver([1, 2, 3, 4])
        #expect(!byBytes.hasRoom)
        _ = byBytes.take(1, atMost: 1, 0)
        #expect(byBytes.hasRoom)
    }

    @Test func `stored messages come before the end, and the first end is reported`() {
        var inbox = MessageInbox<Int>(messagesMax: 9, bytesMax: 99)
        _ = inbox.deliver([1])
        _ = inbox.finish(TransportClosed(code: 4401, reason: ""))
        _ = inbox.finish(Lost())
        let late = inbox.deliver([2])
        #expect(late == nil)
        #expect(message(inbox.take(1, atMost: 1, 0)) == [1])
        #expect(failure(inbox.take(2, atMost: 1, 0)) as? TransportClosed == TransportClosed(code: 4401, reason: ""))
        #expect(failure(inbox.take(3, atMost: 1, 0)) is TransportClosed)
    }

    @Test func `the end resumes the waiter`() {
        var inbox = MessageInbox<Int>(messagesMax: 9, bytesMax: 99)
        _ = inbox.take(1, atMost: 1, 11)
        let resumed = inbox.finish(Lost())
        let again = inbox.finish(Lost())
        #expect(resumed == 11)
        #expect(again == nil)
    }

    @Test func `only the cancelled wait is resumed`() {
        var inbox = MessageInbox<Int>(messagesMax: 9, bytesMax: 99)
        _ = inbox.take(1, atMost: 1, 11)
        #expect(failure(inbox.take(2, atMost: 1, 22)) is AlreadyReceiving)
        let stale = inbox.cancel(2)
        let cancelled = inbox.cancel(1)
        #expect(stale == nil)
        #expect(cancelled == 11)
        let stored = inbox.deliver([1])
        #expect(stored == nil)
    }
}
