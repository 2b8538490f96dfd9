import CAllocator
import Testing

@testable import TidemarkDaemon

@Suite struct AllocatorTests {
    /// Bytes that the calling thread ever got from jemalloc.
    private func allocated() throws -> UInt64 {
        var bytes: UInt64 = 0
        var size = MemoryLayout<UInt64>.size
        try #require(mallctl("thread.allocated", &bytes, &size, nil, 0) == 0)
        return bytes
    }

    @Test func `what Swift allocates comes from jemalloc, which gives it back by threads of its own`() throws {
        Allocator.start()
        let before = try allocated()
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        #expect(try allocated() - before >= UInt64(bytes.count))
        var isOn = false
        var size = MemoryLayout<Bool>.size
        try #require(mallctl("background_thread", &isOn, &size, nil, 0) == 0)
        #expect(isOn)
    }
}
