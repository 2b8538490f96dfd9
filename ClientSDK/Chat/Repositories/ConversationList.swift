import Foundation
import Tidemark

/// The conversations of the account with last message and unread count, all from local rows.
struct ConversationList: Sendable {
    private let id: UUID?
    private let limit: Int
    private let limits: ChatLimits

    init(only id: UUID, _ limits: ChatLimits) {
        self.id = id
        limit = 1
        self.limits = limits
    }

    init(limit: Int, _ limits: ChatLimits) {
        id = nil
        self.limit = max(0, limit)
        self.limits = limits
    }

    func read(_ snapshot: StoreSnapshot) throws -> [Conversation] {
        let user = FieldValue.string(snapshot.account.text)
        let unreadMax = FieldValue.integer(Int64(limits.unreadMax) + 1)
        let chosen = id.map { FieldValue.id($0) }
        let rows = try snapshot.rows(
            Self.sql(filter: chosen == nil ? "" : "AND c.local_id = ?3"),
            [user, unreadMax] + (chosen.map { [$0] } ?? []) + [.integer(Int64(limit))])
        let records = try snapshot.models(
            ConversationRecord.self, chosen == nil ? "" : "WHERE local_id = ?", chosen.map { [$0] } ?? [])
        let recordByID = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let profiles = try profiles(of: records, snapshot)
        return rows.compactMap { row in
            guard let id = row.uuid("id"), let record = recordByID[id] else { return nil }
            return Conversation(
                record, profiles: profiles, account: snapshot.account, lastMessage: MessageSummary(row),
                unread: unread(row))
        }
    }

    /// What the user has not read: messages of others after the mark, and after the user came in. Until that mark is here
    /// nothing is said, since everything would look unread.
    private func unread(_ row: Fields) -> Unread {
        guard row.integer("isMarkUnknown") == 0 else { return Unread(count: 0, isExact: false) }
        let count = Int(row.integer("unread") ?? 0)
        let isBounded = count > limits.unreadMax
        let isComplete = row.integer("isComplete") != 0
        return Unread(count: min(count, limits.unreadMax), isExact: isComplete && !isBounded)
    }

    private func profiles(of records: [ConversationRecord], _ snapshot: StoreSnapshot) throws -> [UserID: User] {
        let users: [UserRecord]
        if id == nil {
            users = try snapshot.models(
                UserRecord.self,
                "WHERE author IN (SELECT m.value FROM conversations AS c, json_each(c.participantIds) AS m)")
        } else {
            users = try records.flatMap(\.participantIds).compactMap { participant in
                try snapshot.read(UserRecord.self, ChatID.profile(of: UserID(participant)))
            }
        }
        return Dictionary(users.compactMap { User($0) }.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// `?1` the user, `?2` where counting ends, then the arguments of the filter and the limit.
    ///
    /// The last message and the count of a conversation come from the indexes on `(scope, sentAt)` and
    /// `(scope, server_id)`, which every database of this schema has.
    private static func sql(filter: String) -> String {
        """
        WITH own AS (
            SELECT c.local_id, c.created_time, s.since, r.local_id AS mark,
                max(coalesce(r.readThrough, 0), coalesce(s.since, 0)) AS read,
                coalesce(p.is_complete, 1) AS messages_complete, p.floor,
                coalesce(q.is_complete, 1) AS receipts_complete
            FROM conversations AS c
            LEFT JOIN tidemark_scope AS s ON s.scope = c.local_id
            LEFT JOIN tidemark_scope_page AS p ON p.scope = c.local_id AND p.collection = 'messages'
            LEFT JOIN tidemark_scope_page AS q ON q.scope = c.local_id AND q.collection = 'receipts'
            LEFT JOIN receipts AS r ON r.scope = c.local_id AND r.author = ?1
            WHERE EXISTS (SELECT 1 FROM json_each(c.participantIds) AS m WHERE m.value = ?1) \(filter)
        )
        SELECT own.local_id AS id, l.local_id AS messageID, l.author AS sender, l.senderName, l.text, l.sentAt,
            (
                SELECT count(*)
                FROM (
                    SELECT 1 FROM messages AS u
                    WHERE u.scope = own.local_id AND u.server_id > own.read AND u.author <> ?1
                    LIMIT ?2
                )
            ) AS unread,
            own.mark IS NULL AND NOT own.receipts_complete AS isMarkUnknown,
            own.messages_complete OR (own.floor IS NOT NULL AND own.read + 1 >= own.floor) AS isComplete
        FROM own
        LEFT JOIN messages AS l ON l.local_id = (
            SELECT n.local_id FROM messages AS n
            WHERE n.scope = own.local_id
            ORDER BY n.sentAt DESC, n.local_id DESC
            LIMIT 1
        )
        ORDER BY coalesce(l.sentAt, own.created_time) DESC, own.local_id
        LIMIT ?
        """
    }
}

extension Conversation {
    fileprivate init(
        _ record: ConversationRecord, profiles: [UserID: User], account: UserID, lastMessage: MessageSummary?,
        unread: Unread
    ) {
        id = record.id
        kind = Kind(rawValue: record.kind) ?? .group
        participants = record.participantIds.map { UserID($0) }.sorted().map { user in
            let profile = profiles[user]
            let name = profile?.displayName ?? record.participantNames?[user.text] ?? user.text
            return Participant(id: user, displayName: name, imageURL: profile?.imageURL)
        }
        adminIDs = Set((record.adminIds ?? []).map { UserID($0) })
        name = record.name
        imageURL = record.imageURL
        creator = record.author.map { UserID($0) } ?? account
        self.lastMessage = lastMessage
        self.unread = unread
        created = record.createdTime ?? .distantPast
        updated = record.serverTime
        syncState = record.syncState ?? .pending
    }
}

extension MessageSummary {
    fileprivate init?(_ row: Fields) {
        guard let id = row.uuid("messageID"), let sender = row.string("sender"), let sentAt = row.integer("sentAt")
        else { return nil }
        self.id = id
        senderID = UserID(sender)
        senderName = row.string("senderName")
        text = row.string("text") ?? ""
        self.sentAt = Date(timeIntervalSince1970: Double(sentAt) / 1_000)
    }
}

extension Fields {
    /// Columns of a row by their types; `nil` for `NULL` and for another type.
    func string(_ name: String) -> String? { if case .string(let text)? = self[name] { text } else { nil } }
    func integer(_ name: String) -> Int64? { if case .integer(let number)? = self[name] { number } else { nil } }
    func uuid(_ name: String) -> UUID? { string(name).flatMap { UniqueID($0) }.map { UUID($0) } }
}
