import Foundation
import GRDB
import TidemarkModel
import TidemarkSQLite

extension Binding {
    mutating func id(_ id: UniqueID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { bytes in
            UniqueID.write(high: id.high, low: id.low, into: bytes)
            text(UnsafeBufferPointer(bytes))
        }
    }

    mutating func value(_ value: DatabaseValue) {
        switch value.storage {
        case .null: null()
        case .int64(let number): integer(number)
        case .double(let number): double(number)
        case .string(let text): self.text(text)
        case .blob(let data): data.withUnsafeBytes { blob($0) }
        }
    }
}
