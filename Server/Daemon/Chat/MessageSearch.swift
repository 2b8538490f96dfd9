import Foundation
import Tidemark
import TidemarkChat

/// Where messages are searched: the one place that knows how.
enum MessageSearch {
    static let hitsMax = 20

    /// Messages of the conversation on this device that contain the text, newest first, as `time sender: text`.
    static func hits(_ text: String, in room: ChatRoom) async throws -> [String] {
        let escaped = text.replacing("\\", with: "\\\\").replacing("%", with: "\\%").replacing("_", with: "\\_")
        let sql = """
            SELECT sentAt, coalesce(senderName, author) AS sender, text
            FROM messages
            WHERE scope = ? AND text LIKE ? ESCAPE '\\'
            ORDER BY sentAt DESC, local_id DESC
            LIMIT ?
            """
        let scope = FieldValue.string(ScopeID(record: room.conversation).text)
        let rows = try await room.chat.store.read { snapshot in
            try snapshot.rows(sql, [scope, .string("%\(escaped)%"), .integer(Int64(hitsMax))])
        }
        return rows.map { row in
            let sent = if case .integer(let time)? = row["sentAt"] { time } else { Int64(0) }
            let (day, time) = ChatLine.clock(Date(timeIntervalSince1970: Double(sent) / 1_000), in: room.zone)
            return "\(day) \(time) \(row.text("sender") ?? "?"): \(row.text("text") ?? "")"
        }
    }
}

extension Fields {
    fileprivate func text(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
}
