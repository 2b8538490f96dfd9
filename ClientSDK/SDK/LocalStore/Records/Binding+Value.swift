import Foundation
import GRDB
import TidemarkSQLite

extension Binding {
    /// Binds the next parameter, copied.
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
