import Foundation
import NIOCore
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// A writer of the load generator: keeps a number of transactions in flight, and measures each push from its writing to
/// the frame that settles it. One push has as many as there is room for, as from the SDK's outbox.
final class Publisher: LoadPeer {
    /// The way in which a publisher writes.
    struct Plan {
        /// The transactions that wait for their settlement at the same time.
        var inFlight = 1
        /// The most transactions of one push.
        var pushMax = 1
        /// The number of transactions after which it stops; `nil` continues until `stop()`.
        var transactionsMax: Int64?
        /// True to send only when `push()` is called, rather than whenever there is room.
        var isPaced = false
    }

    private(set) var isReady = false
    /// The transactions that were settled since `beginMeasuring()`.
    private(set) var acknowledged: Int64 = 0
    private(set) var latencies = LatencyLog()
    /// The time in the text of the last message that was sent.
    private(set) var lastStamp: UInt64 = 0
    /// Called at the welcome, and again when the last transaction of the plan is settled.
    var onProgress: ((Publisher) -> Void)?
    var onFailure: ((String) -> Void)?

    private let greeting: Hello
    private let plan: Plan
    private var template: PushTemplate
    private var first: Int64 = 1
    private var settledThrough: Int64 = 0
    private var inFlight: [(last: Int64, sent: UInt64)] = []
    private var isWriting = false
    /// A reference cycle until the socket ends: then the socket releases its peer.
    private var socket: LoadSocket?

    init(hello: Hello, template: PushTemplate, plan: Plan) {
        greeting = hello
        self.template = template
        self.plan = plan
    }

    /// True when every transaction of a bounded plan is settled.
    var isDone: Bool { plan.transactionsMax.map { settledThrough >= $0 } ?? false }

    func start() {
        isWriting = true
        if !plan.isPaced { fill() }
    }

    /// Stops sending; transactions in flight are still settled.
    func stop() { isWriting = false }

    func beginMeasuring() {
        acknowledged = 0
        latencies.removeAll()
    }

    /// Sends one push; returns false when no more may be in flight.
    @discardableResult
    func push() -> Bool {
        guard let socket, isWriting else { return false }
        var count = min(Int64(plan.pushMax), Int64(plan.inFlight) - (first - 1 - settledThrough))
        if let most = plan.transactionsMax { count = min(count, most - first + 1) }
        guard count > 0 else { return false }
        let stamp = NIODeadline.now().uptimeNanoseconds
        socket.send { buffer in
            template.write(first: first, count: Int(count), now: wallClock(), stamp: UInt64(stamp), into: &buffer)
        }
        first += count
        lastStamp = UInt64(stamp)
        inFlight.append((first - 1, UInt64(stamp)))
        return true
    }

    private func fill() { while push() {} }

    // MARK: LoadPeer

    func hello() -> [UInt8] { ClientMessage.hello(greeting).encode() }

    func welcomed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        self.socket = socket
        isReady = true
        onProgress?(self)
    }

    func changed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        guard let through = FrameMark.settled.number(in: bytes), through > settledThrough else {
            return
        }
        acknowledged += through - settledThrough
        settledThrough = through
        // A refusal is also the outcome of a transaction, but a benchmark must not count it.
        if hasRefusal(bytes) { return fail("a write was refused: \(text(bytes))") }
        let now = UInt64(NIODeadline.now().uptimeNanoseconds)
        while let oldest = inFlight.first, oldest.last <= through {
            latencies.record(nanoseconds: now &- oldest.sent)
            inFlight.removeFirst()
        }
        if isWriting, !plan.isPaced { fill() }
        if isDone { onProgress?(self) }
    }

    func failed(_ reason: String, on socket: LoadSocket) { fail(reason) }

    private func fail(_ reason: String) {
        isWriting = false
        onFailure?(reason)
    }

    /// Returns true for a refusal. An outcome has one string, the id; a refused one has two more:
    /// `…,"code","message"]`.
    private func hasRefusal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = FrameMark.outcomes.end(in: bytes) else { return false }
        return FrameMark.strings.occurs(in: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }

    private func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.suffix(400), as: UTF8.self)
    }
}
