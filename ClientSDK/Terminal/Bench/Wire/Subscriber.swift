import Foundation
import NIOCore
import TidemarkModel
import TidemarkWire

/// A reader of the load generator: counts delivered records, and measures their age when they carry stamps.
final class Subscriber: LoadPeer {
    private(set) var isReady = false
    /// The records that were delivered since `beginMeasuring()`.
    private(set) var delivered = 0
    private(set) var frames = 0
    /// The ages from the server's stamp, which it takes shortly before the commit and cuts to whole milliseconds.
    private(set) var ages = LatencyLog()
    /// The ages from the writer's push.
    private(set) var writeAges = LatencyLog()
    private(set) var isConsistent = false
    /// The welcome as it arrived, for a peer that resumes later.
    private(set) var welcome: [UInt8] = []
    var onProgress: ((Subscriber) -> Void)?
    var onFailure: ((String) -> Void)?

    /// The greatest age that is recorded, in milliseconds: a year. A stamp can be any number that a client wrote.
    private static let ageMax = 31_536_000_000.0

    private let greeting: Hello
    private let measuresAge: Bool

    init(hello: Hello, measuresAge: Bool) {
        greeting = hello
        self.measuresAge = measuresAge
    }

    func beginMeasuring() {
        delivered = 0
        frames = 0
        ages.removeAll()
        writeAges.removeAll()
    }

    func hello() -> [UInt8] { ClientMessage.hello(greeting).encode() }

    func welcomed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        isReady = true
        welcome = Array(bytes)
        onProgress?(self)
    }

    func changed(_ bytes: UnsafeRawBufferPointer, on socket: LoadSocket) {
        frames += 1
        if measuresAge {
            measure(bytes)
        } else {
            delivered += FrameMark.messageRow.count(in: bytes)
        }
        let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(512))
        isConsistent = FrameMark.consistent.occurs(in: head)
        onProgress?(self)
    }

    func failed(_ reason: String, on socket: LoadSocket) { onFailure?(reason) }

    private func measure(_ bytes: UnsafeRawBufferPointer) {
        let now = UInt64(NIODeadline.now().uptimeNanoseconds)
        FrameMark.stamp.numbers(in: bytes) { stamp in
            delivered += 1
            writeAges.record(nanoseconds: now &- UInt64(bitPattern: stamp))
        }
        let today = Date().timeIntervalSince1970 * 1_000
        FrameMark.messageFields.numbersBefore(in: bytes) { stamp in
            // The clock of a remote server may be ahead.
            ages.record(nanoseconds: UInt64(min(max(0, today - Double(stamp)), Self.ageMax) * 1_000_000))
        }
    }
}
