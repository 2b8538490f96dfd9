import NIOCore
import TidemarkModel

/// Writes pushes of chat messages from ready-made pieces: only numbers, ids and times differ from one to the next.
struct PushTemplate {
    /// Digits of the time that stands in the text, so that a receiver can tell how old a message is.
    static let stampDigits = 20

    private let middle: String
    private let end: String
    private var generator: SplitMix

    /// - Parameters:
    ///   - seed: of the ids; another one for every writer and run.
    ///   - textBytes: length of the message's text; at least the stamp's.
    init(conversation: LocalID, seed: UInt64, textBytes: Int) {
        generator = SplitMix(state: seed)
        middle = "\",\"f\":{\"conversationId\":\"\(conversation)\",\"sentAt\":"
        end = String(repeating: "x", count: max(0, textBytes - Self.stampDigits - 1)) + "\"}}]}"
    }

    /// Appends one push of `count` transactions of one message each.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970.
    ///   - stamp: nanoseconds of a monotonic clock; read it back by `FrameMark.stamp`.
    mutating func write(first: Int64, count: Int, now: Milliseconds, stamp: UInt64, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("{\"t\":\"push\",\"first\":")
        buffer.writeString("\(first),\"acked\":\(first - 1),\"m\":[")
        let time = "\(now)"
        let digits = "\(stamp)"
        let padding = max(0, Self.stampDigits - digits.utf8.count)
        for index in 0..<count {
            buffer.writeString(index == 0 ? "{\"id\":\"" : ",{\"id\":\"")
            writeID(now, into: &buffer)
            buffer.writeStaticString("\",\"at\":")
            buffer.writeString(time)
            buffer.writeStaticString(",\"ops\":[{\"o\":\"put\",\"c\":\"messages\",\"i\":\"")
            writeID(now, into: &buffer)
            buffer.writeString(middle)
            buffer.writeString(time)
            buffer.writeStaticString(",\"text\":\"T")
            buffer.writeRepeatingByte(UInt8(ascii: "0"), count: padding)
            buffer.writeString(digits)
            buffer.writeString(end)
        }
        buffer.writeStaticString("]}")
    }

    private mutating func writeID(_ now: Milliseconds, into buffer: inout ByteBuffer) {
        let id = UniqueID.version7(milliseconds: now, random: (generator.next(), generator.next()))
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 36) { space in
            UniqueID.write(high: id.high, low: id.low, into: space.bindMemory(to: UInt8.self))
            return 36
        }
    }
}

/// A small seeded generator (SplitMix64): the same seed plays the same load and the same demo.
struct SplitMix: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}
