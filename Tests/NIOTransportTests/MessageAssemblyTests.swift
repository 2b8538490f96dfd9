import NIOCore
import NIOWebSocket
import Testing

@testable import TidemarkNIOTransport

@Suite struct MessageAssemblyTests {
    private func frame(_ opcode: WebSocketOpcode, _ text: String, fin: Bool = true) -> WebSocketFrame {
        WebSocketFrame(fin: fin, opcode: opcode, data: ByteBuffer(string: text))
    }

    @Test func `fragments become one message`() throws {
        var assembly = MessageAssembly(bytesMax: 9, fragmentsMax: 3)
        for _ in 0..<2 {
            #expect(try assembly.add(frame(.text, "ab", fin: false)) == nil)
            #expect(try assembly.add(frame(.continuation, "", fin: false)) == nil)
            #expect(try assembly.add(frame(.continuation, "c")) == Array("abc".utf8))
        }
    }

    @Test func `a violation of the order or a bound is named`() throws {
        let bad: [([WebSocketFrame], UInt16)] = [
            ([frame(.continuation, "a")], 1002),
            ([frame(.text, "a", fin: false), frame(.text, "b")], 1002),
            ([frame(.text, "0123456789")], 1009),
            ([frame(.text, "01234", fin: false), frame(.continuation, "56789")], 1009),
            ([frame(.text, "", fin: false)] + (1...3).map { _ in frame(.continuation, "", fin: false) }, 1009),
        ]
        for (frames, code) in bad {
            var assembly = MessageAssembly(bytesMax: 9, fragmentsMax: 3)
            let violation = #expect(throws: MessageAssembly.Violation.self) {
                for frame in frames { _ = try assembly.add(frame) }
            }
            #expect(violation?.code == code)
        }
    }

    @Test func `frames that no server may send are refused`() {
        var reserved = frame(.text, "a")
        reserved.rsv1 = true
        let masked = WebSocketFrame(fin: true, opcode: .text, maskKey: .random(), data: ByteBuffer())
        let unknown = WebSocketFrame(
            fin: true, opcode: WebSocketOpcode(encodedWebSocketOpcode: 3) ?? .text, data: ByteBuffer())
        for (frame, code) in [(reserved, 1002), (masked, 1002), (unknown, 1002), (frame(.binary, "a"), 1003)] {
            let violation = #expect(throws: MessageAssembly.Violation.self) { try MessageAssembly.check(frame) }
            #expect(violation?.code == UInt16(code))
        }
    }
}
