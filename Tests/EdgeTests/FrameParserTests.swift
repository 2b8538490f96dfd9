import NIOCore
import Testing

@testable import TidemarkEdge

@Suite struct FrameParserTests {
    private func parse(_ bytes: [UInt8], messageBytesMax: Int = 1000, fragmentsMax: Int = 4) throws -> [FrameParser
        .Event]
    {
        var parser = FrameParser(messageBytesMax: messageBytesMax, fragmentsMax: fragmentsMax)
        var buffer = ByteBuffer(bytes: bytes)
        var events: [FrameParser.Event] = []
        while let event = try parser.next(from: &buffer) { events.append(event) }
        #expect(buffer.readableBytes == 0)
        return events
    }

    @Test func `every split of a conversation yields the same events`() throws {
        let bytes =
            ClientFrames.text("hé", isFinal: false) + ClientFrames.frame(9, [7]) + ClientFrames.frame(0, [0x21])
            + ClientFrames.text(String(repeating: "x", count: 300)) + ClientFrames.frame(10, [])
            + ClientFrames.text("") + ClientFrames.close(1000, Array("bye".utf8))
        let whole = try parse(bytes)
        #expect(
            whole == [
                .ping([7]), .text(Array("hé!".utf8)),
                .text([UInt8](repeating: 120, count: 300)), .pong, .text([]),
                .close(code: 1000, reason: Array("bye".utf8)),
            ])
        for cut in bytes.indices {
            var parser = FrameParser(messageBytesMax: 1000, fragmentsMax: 4)
            var events: [FrameParser.Event] = []
            for part in [bytes[..<cut], bytes[cut...]] {
                var buffer = ByteBuffer(bytes: part)
                while let event = try parser.next(from: &buffer) { events.append(event) }
            }
            #expect(events == whole, "cut at \(cut)")
        }
    }

    @Test func `a conversation arriving byte by byte yields the same events`() throws {
        let bytes = ClientFrames.text(String(repeating: "añb", count: 100)) + ClientFrames.close(4401)
        var parser = FrameParser(messageBytesMax: 1000, fragmentsMax: 4)
        var events: [FrameParser.Event] = []
        for byte in bytes {
            var buffer = ByteBuffer(bytes: [byte])
            while let event = try parser.next(from: &buffer) { events.append(event) }
        }
        #expect(try events == parse(bytes))
        #expect(events.count == 2)
    }

    static let violations: [(String, [UInt8], FrameViolation)] = [
        ("reserved bit 1", ClientFrames.frame(1, [], reserved: 4), .reservedBits),
        ("reserved bit 3", ClientFrames.frame(9, [], reserved: 1), .reservedBits),
        ("opcode 3", ClientFrames.frame(3, []), .reservedOpcode),
        ("opcode 15", ClientFrames.frame(15, []), .reservedOpcode),
        ("not masked", ClientFrames.frame(1, [65], isMasked: false), .notMasked),
        ("not masked and empty", [0x81, 0x00], .notMasked),
        ("binary", ClientFrames.frame(2, [1]), .binary),
        ("ping of 126 bytes", ClientFrames.frame(9, .init(repeating: 0, count: 126)), .longControl),
        ("fragmented ping", ClientFrames.frame(9, [], isFinal: false), .fragmentedControl),
        ("continuation first", ClientFrames.frame(0, [65]), .nothingToContinue),
        (
            "text inside a message", ClientFrames.text("a", isFinal: false) + ClientFrames.text("b"),
            .messageUnfinished
        ),
        ("length 5 in 16 bits", [0x81, 0xFE, 0, 5], .lengthNotMinimal),
        ("length 300 in 64 bits", ClientFrames.announcement(1, length: 300), .lengthNotMinimal),
        ("one byte too long", ClientFrames.frame(1, .init(repeating: 65, count: 1001)), .tooBig),
        ("2^63 bytes announced", ClientFrames.announcement(1, length: 1 << 63), .tooBig),
        (
            "too long in two fragments",
            ClientFrames.frame(1, .init(repeating: 65, count: 600), isFinal: false)
                + ClientFrames.frame(0, .init(repeating: 65, count: 401)), .tooBig
        ),
        (
            "five fragments",
            ClientFrames.text("", isFinal: false)
                + (1...4).flatMap { _ in ClientFrames.frame(0, [], isFinal: false) }, .tooManyFragments
        ),
        ("text is not UTF-8", ClientFrames.frame(1, [0xC3, 0x28]), .notUTF8),
        ("text ends inside a character", ClientFrames.frame(1, [0xE2, 0x82]), .notUTF8),
        ("close of one byte", ClientFrames.frame(8, [3]), .closePayload),
        ("close 999", ClientFrames.close(999), .closePayload),
        ("close 1005", ClientFrames.close(1005), .closePayload),
        ("close 1006", ClientFrames.close(1006), .closePayload),
        ("close 1015", ClientFrames.close(1015), .closePayload),
        ("close 2999", ClientFrames.close(2999), .closePayload),
        ("close 5000", ClientFrames.close(5000), .closePayload),
        ("close reason is not UTF-8", ClientFrames.close(1000, [0xFF]), .notUTF8),
    ]

    @Test(arguments: violations.indices)
    func `a violation is named`(_ row: Int) {
        let (name, bytes, violation) = Self.violations[row]
        #expect(throws: violation, "\(name)") { try parse(bytes) }
    }

    @Test func `no memory is reserved for an announced payload before it arrives`() throws {
        var parser = FrameParser(messageBytesMax: 1 << 30, fragmentsMax: 4)
        var bytes = ByteBuffer(bytes: ClientFrames.announcement(1, length: 1 << 29) + [1, 2, 3])
        #expect(try parser.next(from: &bytes) == nil)
        let held = Mirror(reflecting: parser).descendant("message") as? [UInt8]
        #expect(held?.count == 3)
        #expect((held?.capacity ?? .max) <= 64)
    }

    @Test func `the longest message and the last fragment are accepted`() throws {
        let long = [UInt8](repeating: 65, count: 250)
        let bytes =
            ClientFrames.frame(1, long, isFinal: false) + ClientFrames.frame(0, long, isFinal: false)
            + ClientFrames.frame(0, long, isFinal: false) + ClientFrames.frame(0, long)
        #expect(try parse(bytes) == [.text([UInt8](repeating: 65, count: 1000))])
    }
}
