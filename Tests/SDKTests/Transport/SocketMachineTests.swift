import Testing

@testable import Tidemark

@Suite struct SocketMachineTests {
    private var machine = SocketMachine<Int>(
        messagesMax: 2, bytesMax: 100, timing: SocketLimits().timing, now: .zero)

    private mutating func fill() {
        for byte in 1...2 as ClosedRange<UInt8> { _ = machine.arrived([byte], now: .zero) }
    }

    private mutating func mayRead(at second: Int) -> Bool { machine.mayRead(now: .seconds(second)) }

    private mutating func resume(at second: Int) -> Bool { machine.resume(now: .seconds(second)) }

    private mutating func look(at second: Int) -> SilenceWatch.Verdict { machine.look(now: .seconds(second)) }

    private mutating func close() -> Bool { machine.close() }

    @Test mutating func `the socket is read until enough waits for the app, and again once the app took some`() {
        #expect(mayRead(at: 0))
        fill()
        #expect(!mayRead(at: 1))
        #expect(!resume(at: 2))
        guard case .messages([[1]])? = machine.take(1, atMost: 1, 7) else {
            Issue.record("not the first")
            return
        }
        #expect(resume(at: 3))
        #expect(!resume(at: 3))
        #expect(machine.due == .seconds(28))
    }

    @Test mutating func `a paused read is not treated as silence`() {
        fill()
        #expect(!mayRead(at: 0))
        #expect(look(at: 20) == .showLife)
        #expect(look(at: 300) == .showLife)
    }

    @Test mutating func `after a close frame reading continues, and one is sent only once`() {
        fill()
        #expect(!mayRead(at: 0))
        #expect(close())
        #expect(!close())
        #expect(resume(at: 0))
        #expect(mayRead(at: 0))
    }
}
