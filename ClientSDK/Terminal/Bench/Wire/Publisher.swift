import Foundation
import NIOCore
import TidemarkCommandLine
import TidemarkModel
import TidemarkWire

/// A writer of the load generator: keeps a number of transactions in flight, and measures each push from its writing to
/// the frame that settles it. What there is room for goes out in one push, as it does from the SDK's outbox.
final class Publisher: LoadPeer {
    /// How a publisher writes.
    struct Plan {
        /// Transactions that wait for their settlement at the same time.
        var inFlight = 1
        /// The most transactions of one push.
        var pushMax = 1
        /// Stops after so many transactions; `nil` goes on until `stop()`.
        var transactionsMax: Int64?
        /// Sends only when `push()` is called, rather than whenever there is room.
        var isPaced = false
    }

    private(set) var isReady = false
    /// Transactions that were settled since `beginMeasuring()`.
    private(set) var acknowledged: Int64 = 0
    private(set) var latencies = LatencyLog()
    /// What stands in the text of the last message that was sent.
    private(set) var lastStamp: UInt64 = 0
    /// Called when the welcome is there, and again when the last transaction of the plan is settled.
    var onProgress: ((Publisher) -> Void)?
    var onFailure: ((String) -> Void)?

    private let greeting: Hello
    private let plan: Plan
    private var template: PushTemplate
    private var first: Int64 = 1
    private var settledThrough: Int64 = 0
    private var inFlight: [(last: Int64, sent: UInt64)] = []
    private var isWriting = false
    /// A circle until the socket ends: then it lets go of its peer.
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

    /// Nothing further is sent; what is in flight is still settled.
    func stop() { isWriting = false }

    func beginMeasuring() {
        acknowledged = 0
        latencies.removeAll()
    }

    /// Sends one push; false when all places are taken.
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
        // A refusal is the outcome of a transaction too, but not one that a benchmark may count.
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

    /// Outcomes hold one string, the id; a refused one holds two more: `…,"code","message"]`.
    private func hasRefusal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = FrameMark.outcomes.end(in: bytes) else { return false }
        return FrameMark.strings.occurs(in: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }

    private func text(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.suffix(400), as: UTF8.self)
    }
}
