import GRDB
import GRDBSQLite
import TidemarkModel

/// Binds parameters from the first to the last; the first failure is kept.
struct Binding {
    let statement: SQLiteStatement
    private(set) var code = SQLITE_OK
    private var index: CInt = 0
    /// Tells SQLite to copy the bytes.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(statement: SQLiteStatement) { self.statement = statement }

    mutating func integer(_ value: Int64) { note(sqlite3_bind_int64(statement, next(), value)) }

    mutating func null() { note(sqlite3_bind_null(statement, next())) }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text($0) }
    }

    mutating func text(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { text($0) } }

    mutating func id(_ id: UniqueID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { bytes in
            UniqueID.write(high: id.high, low: id.low, into: bytes)
            text(UnsafeBufferPointer(bytes))
        }
    }

    private mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        // An empty buffer may have no address, which SQLite would take for NULL.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return note(sqlite3_bind_text(statement, next(), "", 0, Self.transient))
        }
        base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { base in
            note(
                sqlite3_bind_text64(
                    statement, next(), base, sqlite3_uint64(bytes.count), Self.transient, UInt8(SQLITE_UTF8)))
        }
    }

    private mutating func next() -> CInt {
        index += 1
        return index
    }

    private mutating func note(_ result: CInt) { if code == SQLITE_OK { code = result } }
}
