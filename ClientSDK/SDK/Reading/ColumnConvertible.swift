import Foundation
import GRDB
import GRDBSQLite
import TidemarkModel

/// Swift types that can be read directly from a column.
protocol ColumnConvertible: Decodable {
    /// Returns `nil` when the value needs a closer look: it is not set, or of another kind.
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Self?
}

extension String: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> String? {
        guard shape.contains(.text), sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        // The text must be asked for before its length.
        let text = sqlite3_column_text(statement, column)
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: length), as: UTF8.self)
    }
}

extension Int64: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Int64? {
        guard shape.contains(.integer), sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, column)
    }
}

extension Int: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Int? {
        Int64.column(statement, column, shape).flatMap { Int(exactly: $0) }
    }
}

extension Bool: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Bool? {
        guard shape.contains(.boolean), sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement, column) != 0
    }
}

extension Double: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Double? {
        guard shape.contains(.real), sqlite3_column_type(statement, column) == SQLITE_FLOAT else { return nil }
        return sqlite3_column_double(statement, column)
    }
}

extension Date: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Date? {
        Int64.column(statement, column, shape).map { Date(timeIntervalSince1970: Double($0) / 1_000) }
    }
}

extension UUID: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> UUID? {
        guard !shape.isDisjoint(with: [.id, .text]) else { return nil }
        return RecordSource.id(statement, column).map { UUID($0) }
    }
}

extension RecordState: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> RecordState? {
        guard shape.contains(.state), sqlite3_column_type(statement, column) == SQLITE_TEXT,
            let text = sqlite3_column_text(statement, column)
        else { return nil }
        // The first letters differ; the rest is compared because files can be damaged.
        let (state, name): (RecordState, StaticString) =
            switch text[0] {
            case UInt8(ascii: "s"): (.synced, "synced")
            case UInt8(ascii: "p"): (.pending, "pending")
            case UInt8(ascii: "f"): (.failed, "failed")
            default: (.conflict, "conflict")
            }
        let count = Int(sqlite3_column_bytes(statement, column))
        return count == name.utf8CodeUnitCount && memcmp(text, name.utf8Start, count) == 0 ? state : nil
    }
}

extension Set<String>: ColumnConvertible {
    @inline(__always)
    static func column(_ statement: SQLiteStatement, _ column: CInt, _ shape: ColumnShape) -> Set<String>? {
        guard shape.contains(.set), sqlite3_column_type(statement, column) == SQLITE_TEXT else {
            return nil
        }
        let text = sqlite3_column_text(statement, column)
        let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))
        return SetText.elements(bytes)
    }
}

/// The text of a set's column: a JSON array of strings.
enum SetText {
    /// Returns the elements; `nil` when one of them needs a JSON reader, or is not a string.
    static func elements(_ text: UnsafeBufferPointer<UInt8>) -> Set<String>? {
        guard text.count >= 2, text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") else { return nil }
        var elements: Set<String> = []
        var rest = text[1..<(text.count - 1)]
        while let first = rest.first {
            guard first == UInt8(ascii: "\"") else { return nil }
            rest = rest.dropFirst()
            guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let element = rest[..<end]
            // Escapes, characters that JSON requires to be escaped, and UTF-8 that has to be checked.
            guard element.allSatisfy({ $0 != UInt8(ascii: "\\") && (32..<128).contains($0) }) else { return nil }
            elements.insert(String(decoding: element, as: UTF8.self))
            rest = rest[(end + 1)...]
            guard let next = rest.first else { break }
            guard next == UInt8(ascii: ","), rest.count > 1 else { return nil }
            rest = rest.dropFirst()
        }
        return elements
    }
}
