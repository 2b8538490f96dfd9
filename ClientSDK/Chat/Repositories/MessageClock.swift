import Foundation
import Tidemark

/// The order of messages. If a sender's clock is more than a day ahead, the message is ordered by the server's time of
/// its creation, so that nobody can keep the end of a conversation to themselves. All others are ordered by `sentAt`; a
/// late one is shown where it was written.
///
/// Messages that are ahead are one range at the end of the index on `sentAt`, and are read separately. When less than a
/// day is left until its time, such a message is ordered like any other.
struct MessageClock: Sendable {
    /// The most that a clock may be ahead.
    static let aheadMax: Milliseconds = 86_400_000

    /// The latest plausible `sentAt`.
    let latest: Date

    /// - Parameters:
    ///   - now: the device's time; if the newest message on the server is later, its time is used.
    ///   - conversation: the conversation of the message; `nil` for messages of all conversations.
    init(now: Milliseconds, in conversation: UUID?, _ snapshot: StoreSnapshot) throws {
        let (sql, arguments) = conversation.map { (Self.newestSQL, [FieldValue.id($0)]) } ?? (Self.newestOfAllSQL, [])
        let newest = try snapshot.rows(sql, arguments, as: Milliseconds.self).first ?? 0
        latest = Date(timeIntervalSince1970: Double(max(now, newest) + Self.aheadMax) / 1_000)
    }

    static let newestSQL = "SELECT created_time FROM messages WHERE scope = ? ORDER BY server_id DESC LIMIT 1"

    static let newestOfAllSQL = """
        SELECT coalesce(max((
            SELECT m.created_time FROM messages AS m WHERE m.scope = c.local_id ORDER BY m.server_id DESC LIMIT 1
        )), 0)
        FROM conversations AS c
        """

    /// Returns true when there is a message whose clock is too far ahead.
    func isAnyAhead(in conversation: UUID?, _ snapshot: StoreSnapshot) throws -> Bool {
        let sql = conversation == nil ? Self.aheadOfAllSQL : Self.aheadSQL
        let arguments = (conversation.map { [FieldValue.id($0)] } ?? []) + [.date(latest)]
        return try snapshot.rows(sql, arguments, as: Int.self).first == 1
    }

    static let aheadSQL = "SELECT EXISTS (SELECT 1 FROM messages WHERE scope = ? AND sentAt > ?)"

    static let aheadOfAllSQL = """
        SELECT EXISTS (
            SELECT 1 FROM conversations AS c CROSS JOIN messages AS m WHERE m.scope = c.local_id AND m.sentAt > ?
        )
        """

    /// Returns the time by which a message is ordered.
    func place(sentAt: Date, created: Date) -> Date { sentAt > latest ? min(created, latest) : sentAt }

    /// Orders by time, then by id.
    func isEarlier(_ left: Message, _ right: Message) -> Bool {
        let (one, other) = (
            place(sentAt: left.sentAt, created: left.createdAt), place(sentAt: right.sentAt, created: right.createdAt)
        )
        return one == other ? UniqueID(left.id) < UniqueID(right.id) : one < other
    }
}

extension Message {
    /// True when the sender's clock was more than a day ahead of the server's: use `createdAt`, not `sentAt`.
    public var isClockAhead: Bool {
        sentAt.timeIntervalSince(createdAt) > Double(MessageClock.aheadMax) / 1_000
    }
}
