import Testing

@testable import TidemarkPostgres

struct `The lease queue` {
    private let start = ContinuousClock.now
    private let a = LinkID(value: 1)
    private let b = LinkID(value: 2)

    private func request(_ queue: inout LeaseQueue<String>, _ number: UInt64, within: Duration = .seconds(1)) -> String
    {
        switch queue.request(number: number, deadline: start + within, ticket: "caller \(number)") {
        case .granted(let link): "granted \(link.value)"
        case .queued: "queued"
        case .refused(let error): String("\(error)".prefix { $0.isLetter })
        }
    }

    @Test func `grants the most recently freed connection first`() {
        var queue = LeaseQueue<String>(waitersMax: 10)
        #expect(queue.free(a) == nil)
        #expect(queue.free(b) == nil)
        #expect(request(&queue, 1) == "granted 2")
        #expect(request(&queue, 2) == "granted 1")
        #expect(request(&queue, 3) == "queued")
        #expect(queue.connected == 2 && queue.waiting == 1)
    }

    @Test func `hands freed connections to waiters in order, past those that withdrew`() {
        var queue = LeaseQueue<String>(waitersMax: 10)
        for number in 1...4 { #expect(request(&queue, UInt64(number)) == "queued") }
        #expect(queue.withdraw(2) == "caller 2")
        #expect(queue.withdraw(2) == nil)
        #expect(queue.free(a) == "caller 1")
        #expect(queue.free(b) == "caller 3")
        #expect(queue.free(a) == "caller 4")
        #expect(queue.free(a) == nil)
        #expect(queue.idle == [a] && queue.leased == [b])
    }

    @Test func `forgets lost connections, idle or leased`() {
        var queue = LeaseQueue<String>(waitersMax: 10)
        _ = queue.free(a)
        _ = queue.free(b)
        #expect(request(&queue, 1) == "granted 2")
        queue.lose(a)
        queue.lose(b)
        #expect(queue.connected == 0 && !queue.isLeased(b))
        #expect(request(&queue, 2) == "queued")
    }

    @Test func `expires exactly those whose time is up`() {
        var queue = LeaseQueue<String>(waitersMax: 10)
        _ = request(&queue, 1, within: .seconds(1))
        _ = request(&queue, 2, within: .seconds(2))
        _ = request(&queue, 3, within: .seconds(3))
        #expect(queue.expire(start + .milliseconds(999)) == [])
        #expect(queue.expire(start + .seconds(2)) == ["caller 1", "caller 2"])
        #expect(queue.waiting == 1)
    }

    @Test func `bounds the waiters, and refuses all once drained`() {
        var queue = LeaseQueue<String>(waitersMax: 2)
        _ = queue.free(a)
        #expect(request(&queue, 1) == "granted 1")
        #expect(request(&queue, 2) == "queued")
        #expect(request(&queue, 3) == "queued")
        #expect(request(&queue, 4) == "overloaded")
        #expect(queue.drain() == ["caller 2", "caller 3"])
        #expect(!queue.isDrained)
        #expect(request(&queue, 5) == "closed")
        #expect(queue.free(a) == nil)
        #expect(queue.isDrained)
    }
}

struct `The backoff` {
    @Test func `doubles to its bound, shortened by at most a half, and starts over when reset`() {
        var backoff = Backoff(first: .milliseconds(100), max: .milliseconds(350))
        #expect(backoff.next(jitter: 1) == .milliseconds(100))
        #expect(backoff.next(jitter: 0) == .milliseconds(100))
        #expect(backoff.next(jitter: 1) == .milliseconds(350))
        #expect(backoff.next(jitter: 1) == .milliseconds(350))
        backoff.reset()
        #expect(backoff.next(jitter: 0) == .milliseconds(50))
    }
}
