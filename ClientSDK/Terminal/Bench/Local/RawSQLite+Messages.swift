import Foundation
import GRDBSQLite
import Tidemark
import TidemarkModel

extension RawSQLite {
    /// Returns the newest messages of a scope, read as in code written by hand for only this: the columns of the model,
    /// by number, each directly into the property's type. No read of models can be faster.
    func messages(in scope: String, limit: Int) throws -> [DemoMessage] {
        let statement = try statement(
            """
            SELECT local_id, conversationId, senderName, sentAt, text, server_id, author, state
            FROM messages WHERE scope = ? ORDER BY sentAt DESC, rowid DESC LIMIT ?
            """)
        defer { sqlite3_reset(statement) }
        bind(.text(scope), 1, statement)
        bind(.integer(Int64(limit)), 2, statement)
        var messages: [DemoMessage] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                messages.append(
                    DemoMessage(
                        id: try Self.id(0, statement), conversationId: try Self.id(1, statement),
                        senderName: Self.text(2, statement), sentAt: sqlite3_column_int64(statement, 3),
                        text: Self.text(4, statement),
                        serverID: Self.isNull(5, statement) ? nil : sqlite3_column_int64(statement, 5),
                        author: Self.isNull(6, statement) ? nil : Self.text(6, statement),
                        syncState: Self.state(7, statement)))
            case SQLITE_DONE: return messages
            default: throw failure
            }
        }
    }

    private static func isNull(_ column: CInt, _ statement: OpaquePointer) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    private static func bytes(_ column: CInt, _ statement: OpaquePointer) -> UnsafeBufferPointer<UInt8> {
        // The text must be asked for before its length.
        let text = sqlite3_column_text(statement, column)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))
    }

    private static func text(_ column: CInt, _ statement: OpaquePointer) -> String {
        String(decoding: bytes(column, statement), as: UTF8.self)
    }

    private static func state(_ column: CInt, _ statement: OpaquePointer) -> RecordState? {
        switch bytes(column, statement).first {
        case UInt8(ascii: "s"): .synced
        case UInt8(ascii: "p"): .pending
        case UInt8(ascii: "f"): .failed
        case UInt8(ascii: "c"): .conflict
        default: nil
        }
    }

    private static func id(_ column: CInt, _ statement: OpaquePointer) throws -> UUID {
        guard let id = UniqueID(utf8: bytes(column, statement)) else { throw BenchError("an id is not a UUID") }
        return UUID(id)
    }
}
