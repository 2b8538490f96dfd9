import NIOCore
import Testing

@testable import TidemarkEdge

@Suite struct FrameBuffersTests {
    private func payload(_ number: Int, bytes: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
    }

    @Test func `a frame that waits for its socket keeps its bytes however many are made after it`() {
        var buffers = FrameBuffers()
        let payloads = (0..<500).map { payload($0, bytes: $0) }
        let frames = payloads.map { buffers.text($0) }
        #expect(frames == payloads.map { WebSocketFraming.text($0) })
    }

    @Test func `a released frame gives its buffer to a later one`() {
        var buffers = FrameBuffers()
        let addresses = (0..<1_000).map { number in
            buffers.text(payload(number, bytes: 100)).withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        #expect(Set(addresses).count < 100)
    }

    @Test func `the buffer of a long frame is not kept`() {
        var buffers = FrameBuffers()
        let long = payload(7, bytes: 100_000)
        #expect(buffers.text(long) == WebSocketFraming.text(long))
        let held = Mirror(reflecting: buffers).descendant("buffers") as? [ByteBuffer]
        #expect(held?.allSatisfy { $0.capacity == 0 } == true)
    }
}
