import TidemarkModel
import TidemarkSQLite

extension Binding {
    mutating func id(_ id: UniqueID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { bytes in
            UniqueID.write(high: id.high, low: id.low, into: bytes)
            text(UnsafeBufferPointer(bytes))
        }
    }
}
