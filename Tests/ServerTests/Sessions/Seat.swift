import TidemarkHub
import TidemarkModel
import TidemarkSequencer
import TidemarkWire

/// A welcomed client that pushes, reads and acknowledges in its turn. Its socket, the store and the sequencer answer on
/// request.
struct Seat {
    private(set) var one: OneSession
    private var lastPushed: Int64 = 0
    private var settled: Int64 = 0
    /// The number of messages that were read, and of stream frames among them.
    private var read = 0
    private var frames = 0

    /// - Parameter expires: the time until the token ends, in milliseconds.
    init(expires: Milliseconds = 3_600_000, _ change: (inout WireLimits) -> Void = { _ in }) throws {
        one = try OneSession(tail: 10, expires: expires, givesRoom: false) { limits in
            limits.transactionsPerSecond = 1_000_000
            limits.transactionsBurst = 1_000_000
            change(&limits)
        }
        one.connect(from: nil, snapshot: 10)
        _ = heard()
    }

    // MARK: The client

    mutating func say(_ message: ClientMessage) { one.say(message) }

    /// Pushes the next transaction.
    mutating func push() {
        lastPushed += 1
        let transaction = Transaction(id: UniqueID(high: 2, low: UInt64(lastPushed)), mutations: [], clientTime: 1)
        say(.push(Push(first: lastPushed, ackedThrough: settled, entries: [Push.Entry(transaction)])))
    }

    /// Continues after the last settled transaction, as a client does whose pushes were given back.
    mutating func goBack() { lastPushed = settled }

    /// Requests a page of the wall.
    mutating func askForPage(_ id: Int64) {
        say(.page(PageRequest(id: id, scope: OneSession.wall, since: 0, collection: "posts", limit: 200)))
    }

    /// The messages since the last call; the client acknowledges all frames of the stream.
    mutating func heard() -> [ServerMessage] {
        let messages = Array(one.sent[read...])
        read = one.sent.count
        frames += messages.count { if case .changes = $0 { true } else { false } }
        say(.ack(Ack(frames: Int64(frames))))
        return messages
    }

    // MARK: The server's answers

    /// Commits the next batch: it settles the client's next transactions, and writes a post of so many bytes.
    mutating func commit(settling count: Int = 0, bytes: Int = 0) {
        let seq = one.tail + 1
        settled += Int64(count)
        one.commit(
            bytes > 0 ? [OneSession.post(seq, bytes: bytes)] : [], to: seq,
            settling: count > 0 ? OneSession.results(settled, at: seq) : [])
    }

    mutating func decide(_ outcome: PushOutcome) { one.decide(outcome) }

    /// The store answers the oldest read: one post of so many bytes.
    mutating func answerPage(bytes: Int) { one.answerPage(OneSession.post(one.tail, bytes: bytes)) }

    mutating func socket(isWritable: Bool) { one.socket(isWritable: isWritable) }

    mutating func pass(_ milliseconds: Int64) { one.pass(milliseconds: milliseconds) }

    var now: Milliseconds { one.now }
    var closed: CloseCode? { one.closed }
    var bytesSent: Int { one.bytesSent }
    var awaitsRoom: Bool { one.awaitsRoom }
    var submitted: [Submission] { one.submitted }
}
