import Testing
import TidemarkModel
import TidemarkWire

@Suite struct `Golden frames` {
    /// Checksums of all golden bytes by version. A change of the bytes needs a new version here and in `WireVersion`.
    static let locked: [Int64: UInt64] = [1: 7_956_288_615_072_223_680]

    @Test func `client messages have their locked bytes and read back`() throws {
        for (message, text) in GoldenFrames.client {
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ClientMessage.decode(Array(text.utf8)) == message)
        }
    }

    @Test func `server messages have their locked bytes and read back`() throws {
        for (message, text) in GoldenFrames.server {
            #expect(String(decoding: message.encode(), as: UTF8.self) == text)
            #expect(try ServerMessage.decode(Array(text.utf8)) == message)
        }
    }

    @Test func `bytes change only together with the version`() {
        // FNV-1a, 64 bits.
        var sum: UInt64 = 0xcbf2_9ce4_8422_2325
        let frames = GoldenFrames.client.map { $0.0.encode() } + GoldenFrames.server.map { $0.0.encode() }
        for byte in frames.joined() { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        #expect(Self.locked[WireVersion.current] == sum, "raise WireVersion.current and lock its bytes as \(sum)")
    }

    @Test func `unknown members are ignored and the kind may stand anywhere`() throws {
        let text = #"{"later":{"x":[1]},"frames":7,"t":"ack"}"#
        #expect(try ClientMessage.decode(Array(text.utf8)) == .ack(Ack(frames: 7)))
        #expect(try ClientMessage.decode(Array(#"{"t":"x-trace","y":1}"#.utf8)) == .unknownExtension)
    }

    @Test func `a body without a connection reads like a push`() throws {
        let call = PushCall(
            client: GoldenFrames.first, connection: 4,
            push: Push(first: 6, ackedThrough: 5, entries: [Push.Entry(GoldenFrames.transaction)]))
        #expect(try PushCall.decode(call.encode()) == call)
    }
}
