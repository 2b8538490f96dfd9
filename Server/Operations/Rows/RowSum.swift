import Crypto
import TidemarkModel
package import TidemarkStore

/// A count and an additive checksum of the rows of one table, in any order: equal sums mean equal tables.
package struct RowSum: Sendable {
    private var digest = RecordDigest()
    /// Kept for its memory.
    private var bytes: [UInt8] = []

    package init() {}

    /// The number of rows.
    package var rows: Int64 { digest.count }

    /// Adds a row.
    package mutating func add(_ row: TableRow) {
        bytes.removeAll(keepingCapacity: true)
        for value in row {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number): append(1, number)
            case .text(let text):
                append(2, Int64(text.count))
                bytes += text
            case .bytes(let some):
                append(3, Int64(some.count))
                bytes += some
            }
        }
        digest.insert(RecordDigest.term(sha256: SHA256.hash(data: bytes)))
    }

    private mutating func append(_ kind: UInt8, _ number: Int64) {
        bytes.append(kind)
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}

extension RowSum: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.digest == right.digest }
}
