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

    /// - Parameter now: the device's time.
    func read(_ snapshot: StoreSnapshot, now: Milliseconds) throws -> [Conversation] {
        let (choice, chosen) = try choice(snapshot)
        let latest = now + MessageClock.aheadMax
        let rows = try snapshot.rows(
            Self.sql(choice),
            [.string(snapshot.account.text), .integer(Int64(limits.maxUnread) + 1), .integer(latest)] + chosen,
            as: Row.self)
        let records =
            choice == .all
            ? try snapshot.readAll(ConversationRecord.self, "")
            : try snapshot.readAll(ConversationRecord.self, where: .is(\.id, oneOf: rows.map(\.id)))
        let recordByID = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let waiting = records.filter { ($0.syncState ?? .pending) != .synced }.map(\.id)
        let writes = try snapshot.pendingWrites(to: waiting, of: ConversationRecord.collection)
        let sendings = Dictionary(writes.map { (UUID($0.key.id), $0.value) }, uniquingKeysWith: { _, last in last })
        let profiles = try profiles(of: Set(records.flatMap(\.participantIds)), snapshot)
        return rows.compactMap { row in
            // A conversation that the user has left may be on the device until the server confirms it.
            guard let record = recordByID[row.id], record.participantIds.contains(snapshot.account.text) else {
                return nil
            }
            return Conversation(
                record, profiles: profiles, account: snapshot.account, lastMessage: MessageSummary(row),
                unread: unread(row), sending: sendings[row.id])
        }
    }

    /// Returns which conversations are listed, and the arguments of that part of the statement.
    private func choice(_ snapshot: StoreSnapshot) throws -> (Choice, [FieldValue]) {
        if let id { return (.one, [.id(id)]) }
        let count = try snapshot.rows("SELECT count(*) FROM conversations", as: Int.self).first ?? 0
        return count > limit ? (.newest, [.integer(Int64(limit))]) : (.all, [])
    }

    /// A part of the statement.
    enum Choice: String {
        /// The limit is at least the number of conversations, so one pass reads all. Sorting them and looking for the
        /// member first, as for the newest, would take a quarter more time.
        case all = ""
        /// The newest conversations; `?4` is their number.
        case newest = """
            WHERE EXISTS (SELECT 1 FROM json_each(c.participantIds) AS j WHERE j.value = ?1)
            ORDER BY place DESC, c.local_id
            LIMIT ?4
            """
        /// One conversation; `?4` is its id.
        case one = "WHERE c.local_id = ?4"
    }

    /// A conversation's last message and its counts.
    fileprivate struct Row: Decodable {
        let id: UUID
        let messageID: UUID?
        let sender: String?
        let senderName: String?
        let text: String?
        let sentAt: Date?
        let isMarkUnknown: Bool
        let isComplete: Bool
        let unread: Int
    }

    private func profiles(of users: Set<String>, _ snapshot: StoreSnapshot) throws -> [UserID: User] {
        let ids = users.map { ChatID.profile(of: UserID($0)) }
        let profiles = try snapshot.readAll(UserRecord.self, where: .is(\.id, oneOf: ids)).compactMap { User($0) }
        return Dictionary(profiles.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Counts the unread messages: messages of others after the mark, and after the user joined. Before that mark has
    /// arrived the count is unknown, because everything would look unread.
    private func unread(_ row: Row) -> Unread {
        guard !row.isMarkUnknown else { return Unread(count: 0, isExact: false) }
        let isBounded = row.unread > limits.maxUnread
        return Unread(count: min(row.unread, limits.maxUnread), isExact: row.isComplete && !isBounded)
    }

    /// The latest plausible time of a message of the conversation `c`, as in `MessageClock`.
    private static let believed = """
        (
            SELECT max(?3, m.created_time + \(MessageClock.aheadMax))
            FROM messages AS m
            WHERE m.scope = c.local_id
            ORDER BY m.server_id DESC
            LIMIT 1
        )
        """

    /// The last message of the conversation `c` when some clocks are implausible: the newest by its sender's clock, or,
    /// of those whose clock is ahead, the newest by the server's time of its creation.
    private static let lastOfTwo = """
        SELECT x.message
        FROM (
            SELECT *
            FROM (
                SELECT o.rowid AS message, o.sentAt AS place, o.local_id AS id
                FROM messages AS o
                WHERE o.scope = c.local_id AND o.sentAt <= \(believed)
                ORDER BY o.sentAt DESC, o.local_id DESC
                LIMIT 1
            )
            UNION ALL
            SELECT *
            FROM (
                SELECT o.rowid, min(o.created_time, \(believed)), o.local_id
                FROM messages AS o
                WHERE o.scope = c.local_id AND o.sentAt > \(believed)
                ORDER BY 2 DESC, 3 DESC
                LIMIT 1
            )
        ) AS x
        ORDER BY x.place DESC, x.id DESC
        LIMIT 1
        """

    /// `?1` is the user, `?2` the limit of counting, `?3` the latest plausible time by the device's clock; the
    /// arguments of the choice follow.
    ///
    /// The statement first finds the conversations to show, by their last messages, then counts for these. Both use the
    /// indexes on `(scope, sentAt)` and `(scope, server_id)`, which every database of this schema has. Ids of messages
    /// are compared only when the two newest have the same time, which the index tells without reading them. The
    /// server's times are used only when the newest message is a day ahead of the device.
    static func sql(_ choice: Choice) -> String {
        """
        WITH shown AS (
            SELECT c.local_id AS id, c.created_time, l.local_id AS messageID, l.author AS sender, l.senderName, l.text,
                l.sentAt, CASE
                    WHEN l.sentAt IS NULL THEN c.created_time
                    WHEN l.sentAt > ?3 AND l.sentAt > \(believed) THEN min(l.created_time, \(believed))
                    ELSE l.sentAt
                END AS place
            FROM conversations AS c
            LEFT JOIN messages AS l ON l.rowid = (
                SELECT CASE WHEN n.sentAt > ?3 AND n.sentAt > \(believed) THEN (
                    \(lastOfTwo)
                ) WHEN n.sentAt IS (
                    SELECT o.sentAt FROM messages AS o WHERE o.scope = c.local_id ORDER BY o.sentAt DESC LIMIT 1 OFFSET 1
                ) THEN (
                    SELECT o.rowid FROM messages AS o
                    WHERE o.scope = c.local_id
                    ORDER BY o.sentAt DESC, o.local_id DESC
                    LIMIT 1
                ) ELSE n.rowid END
                FROM messages AS n
                WHERE n.scope = c.local_id
                ORDER BY n.sentAt DESC
                LIMIT 1
            )
            \(choice.rawValue)
        ),
        marked AS (
            SELECT shown.*, max(coalesce(r.readThrough, 0), coalesce(s.since, 0)) AS read,
                r.local_id IS NULL AND EXISTS (
                    SELECT 1 FROM tidemark_scope_page AS q
                    WHERE q.scope = shown.id AND q.collection = 'receipts' AND q.is_complete = 0
                ) AS isMarkUnknown,
                coalesce(p.is_complete, 1) AS isWhole, p.floor
            FROM shown
            LEFT JOIN tidemark_scope AS s ON s.scope = shown.id
            LEFT JOIN tidemark_scope_page AS p ON p.scope = shown.id AND p.collection = 'messages'
            LEFT JOIN receipts AS r ON r.scope = shown.id AND r.author = ?1
        )
        SELECT id, messageID, sender, senderName, text, sentAt, isMarkUnknown,
            isWhole OR (floor IS NOT NULL AND read + 1 >= floor) AS isComplete,
            (
                SELECT count(*)
                FROM (
                    SELECT 1 FROM messages AS u
                    WHERE u.scope = marked.id AND u.server_id > marked.read AND u.author <> ?1
                    LIMIT ?2
                )
            ) AS unread
        FROM marked
        ORDER BY place DESC, id
        """
    }
}

extension Conversation {
    fileprivate init(
        _ record: ConversationRecord, profiles: [UserID: User], account: UserID, lastMessage: MessageSummary?,
        unread: Unread, sending: PendingWrite?
    ) {
        id = record.id
        // Whatever it calls itself: a conversation with more members is not direct.
        kind = record.participantIds.count > 2 ? .group : Kind(rawValue: record.kind) ?? .group
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
        createdAt = record.createdTime ?? .distantPast
        updatedAt = record.serverTime
        syncState = record.syncState ?? .pending
        self.sending = sending
    }
}

extension MessageSummary {
    fileprivate init?(_ row: ConversationList.Row) {
        guard let id = row.messageID, let sender = row.sender, let sentAt = row.sentAt else { return nil }
        self.id = id
        senderID = UserID(sender)
        senderName = row.senderName
        text = row.text ?? ""
        self.sentAt = sentAt
    }
}
