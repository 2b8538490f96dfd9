import NIOCore
import TidemarkModel

/// Writes pushes of chat messages from prepared pieces: only numbers, ids and times differ from one to the next.
struct PushTemplate {
    /// The digits of the time in the text, from which a receiver computes the age of a message.
    static let stampDigits = 20

    /// Upper bounds of the pieces of a push, and of one of its messages, without `middle` and the text.
    private static let headBytesMax = 128
    private static let messageBytesMax = 512

    private let middle: [UInt8]
    private let padding: Int
    private var generator: SplitMix

    /// - Parameters:
    ///   - seed: the seed of the ids; a different one for every writer and run.
    ///   - textBytes: the length of the message's text; at least the stamp's.
    init(conversation: LocalID, seed: UInt64, textBytes: Int) {
        generator = SplitMix(seed: seed)
        middle = Array("\",\"f\":{\"conversationId\":\"\(conversation)\",\"sentAt\":".utf8)
        padding = max(0, textBytes - Self.stampDigits - 1)
    }

    /// Returns the time in the text of a message; `nil` for a message from elsewhere.
    static func stamp(of text: String) -> UInt64? {
        text.utf8.first == UInt8(ascii: "T") ? UInt64(text.dropFirst().prefix(stampDigits)) : nil
    }

    /// Appends one push of `count` transactions of one message each.
    ///
    /// - Parameters:
    ///   - first: the number of the first transaction, from 1.
    ///   - now: milliseconds since 1970.
    ///   - stamp: nanoseconds of a monotonic clock; `FrameMark.stamp` reads it back.
    mutating func write(first: Int64, count: Int, now: Milliseconds, stamp: UInt64, into buffer: inout ByteBuffer) {
        let room = Self.headBytesMax + count * (Self.messageBytesMax + middle.count + padding)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { space in
            var pen = Pen(space)
            pen.write("{\"t\":\"push\",\"first\":")
            pen.write(first.magnitude)
            pen.write(",\"acked\":")
            pen.write((first - 1).magnitude)
            pen.write(",\"m\":[")
            for index in 0..<count {
                if index > 0 { pen.write(",") }
                writeMessage(now: now, stamp: stamp, with: &pen)
            }
            pen.write("]}")
            return pen.count
        }
    }

    private mutating func writeMessage(now: Milliseconds, stamp: UInt64, with pen: inout Pen) {
        pen.write("{\"id\":\"")
        pen.write(makeID(now))
        pen.write("\",\"at\":")
        pen.write(now.magnitude)
        pen.write(",\"ops\":[{\"o\":\"put\",\"c\":\"messages\",\"i\":\"")
        pen.write(makeID(now))
        pen.write(middle)
        pen.write(now.magnitude)
        pen.write(",\"text\":\"T")
        pen.write(stamp, width: Self.stampDigits)
        pen.write(UInt8(ascii: "x"), times: padding)
        pen.write("\"}}]}")
    }

    private mutating func makeID(_ now: Milliseconds) -> UniqueID {
        .version7(milliseconds: now, random: (generator.next(), generator.next()))
    }
}
