package import GRDB
import GRDBSQLite

/// Binds parameters from the first to the last; the first failure is kept.
package struct Binding {
    /// The statement, which is reset and which nobody else uses meanwhile.
    package let statement: SQLiteStatement
    /// SQLite's result code.
    package private(set) var code = SQLITE_OK
    private var index: CInt = 0
    /// Tells SQLite to copy the bytes.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Begins at the first parameter; values that were bound before stay until they are replaced.
    package init(statement: SQLiteStatement) { self.statement = statement }

    /// Binds the next parameter.
    package mutating func integer(_ value: Int64) { note(sqlite3_bind_int64(statement, next(), value)) }

    /// Binds the next parameter; NaN becomes NULL.
    package mutating func double(_ value: Double) { note(sqlite3_bind_double(statement, next(), value)) }

    /// Binds the next parameter.
    package mutating func null() { note(sqlite3_bind_null(statement, next())) }

    /// Binds the next parameter, copied.
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text($0) }
    }

    /// Binds the next parameter, copied; UTF-8.
    package mutating func text(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { text($0) } }

    /// Binds the next parameter, copied; UTF-8.
    package mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) { text(bytes, Self.transient) }

    /// Binds the next parameter without a copy; UTF-8. The bytes must stay at their address until the binding is
    /// cleared.
    package mutating func text(lent bytes: UnsafeBufferPointer<UInt8>) { text(bytes, nil) }

    private mutating func text(_ bytes: UnsafeBufferPointer<UInt8>, _ destructor: sqlite3_destructor_type?) {
        // An empty buffer may have no address, which SQLite would take for NULL.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return note(sqlite3_bind_text(statement, next(), "", 0, Self.transient))
        }
        base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { base in
            note(
                sqlite3_bind_text64(
                    statement, next(), base, sqlite3_uint64(bytes.count), destructor, UInt8(SQLITE_UTF8)))
        }
    }

    /// Binds the next parameter, copied.
    package mutating func blob(_ bytes: UnsafeRawBufferPointer) {
        // An empty buffer may have no address, which SQLite would take for NULL.
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            return note(sqlite3_bind_zeroblob(statement, next(), 0))
        }
        note(sqlite3_bind_blob64(statement, next(), base, sqlite3_uint64(bytes.count), Self.transient))
    }

    private mutating func next() -> CInt {
        index += 1
        return index
    }

    private mutating func note(_ result: CInt) { if code == SQLITE_OK { code = result } }
}
