import Foundation
import Tidemark

/// One page of a conversation, with everything that is shown of its messages.
struct MessagePage: Sendable {
    /// The end of the page, exclusive: a time, or one message of the conversation.
    enum End: Sendable {
        case moment(Date)
        case message(UUID, sentAt: Date, created: Date)
    }

    private let conversation: UUID
    private let end: End?
    private let limit: Int
    private let now: Milliseconds

    init(_ conversation: UUID, before end: End? = nil, limit: Int, now: Milliseconds) {
        self.conversation = conversation
        self.end = end
        self.limit = max(0, limit)
        self.now = now
    }

    func read(_ snapshot: StoreSnapshot) throws -> [Message] {
        let clock = try MessageClock(now: now, in: conversation, snapshot)
        let records = try believed(clock, snapshot) + ahead(clock, snapshot)
        let tracks = try snapshot.readAll(ReceiptRecord.self, "WHERE scope = ?", [.id(conversation)])
            .compactMap { ReceiptTrack($0) }
        let unsent = records.filter { $0.syncState == .pending || $0.syncState == .failed }.map(\.id)
        let pending = try snapshot.pendingWrites(to: unsent, of: MessageRecord.collection)
        let account = snapshot.account
        // In the order of the result, so that little is left to sort.
        let messages = records.reversed().map { record in
            let key = RecordKey(collection: MessageRecord.collection, id: UniqueID(record.id))
            return Message(record, account: account, tracks: tracks, sending: pending[key])
        }
        let all = try messages + refused(clock, snapshot)
        return Array(all.sorted(by: clock.isEarlier).suffix(limit))
    }

    /// Returns the messages with plausible times, newest first.
    private func believed(_ clock: MessageClock, _ snapshot: StoreSnapshot) throws -> [MessageRecord] {
        var clause = "WHERE scope = ? AND sentAt <= ?"
        var arguments: [FieldValue] = [.id(conversation)]
        switch place(of: end, clock) {
        case (let date, nil)?:
            clause += " AND sentAt < ?"
            arguments += [.date(min(date, clock.latest)), .date(date)]
        case (let date, let id?)?:
            clause += " AND (sentAt < ? OR local_id < ?)"
            arguments += [.date(date), .date(date), .id(id)]
        case nil: arguments.append(.date(clock.latest))
        }
        clause += " ORDER BY sentAt DESC, local_id DESC LIMIT ?"
        return try snapshot.readAll(MessageRecord.self, clause, arguments + [.integer(Int64(limit))])
    }

    static let aheadClause = """
        WHERE scope = ? AND sentAt > ? ORDER BY server_id IS NULL DESC, server_id DESC, local_id DESC LIMIT ?
        """

    /// Returns the messages whose clock is too far ahead, by the order of their creation; few, or none.
    private func ahead(_ clock: MessageClock, _ snapshot: StoreSnapshot) throws -> [MessageRecord] {
        // A page before a time needs all of them: it is unknown how many are later.
        let most = end == nil ? Int64(limit) : -1
        let found = try snapshot.readAll(
            MessageRecord.self, Self.aheadClause, [.id(conversation), .date(clock.latest), .integer(most)])
        guard let end = place(of: end, clock) else { return found }
        return found.filter { record in
            let place = clock.place(sentAt: record.sentAt, created: record.createdTime ?? record.sentAt)
            guard place == end.date, let id = end.id else { return place < end.date }
            return UniqueID(record.id) < UniqueID(id)
        }
    }

    private func place(of end: End?, _ clock: MessageClock) -> (date: Date, id: UUID?)? {
        switch end {
        case .moment(let date): (date, nil)
        case .message(let id, let sentAt, let created): (clock.place(sentAt: sentAt, created: created), id)
        case nil: nil
        }
    }

    private func refused(_ clock: MessageClock, _ snapshot: StoreSnapshot) throws -> [Message] {
        let end = place(of: end, clock)
        return try snapshot.rejectedCreations(MessageRecord.self).compactMap { record, transaction in
            guard record.conversationId == conversation else { return nil }
            let message = Message(record, account: snapshot.account, failure: transaction.rejection)
            let place = clock.place(sentAt: message.sentAt, created: message.createdAt)
            guard let end else { return message }
            guard place == end.date, let id = end.id else { return place < end.date ? message : nil }
            return UniqueID(record.id) < UniqueID(id) ? message : nil
        }
    }

    /// Returns the largest plausible `sentAt` on this device; 0 when there is none.
    static func newestTime(in conversation: UUID, now: Milliseconds, _ snapshot: StoreSnapshot) throws -> Milliseconds {
        let clock = try MessageClock(now: now, in: conversation, snapshot)
        let sql = "SELECT coalesce(max(sentAt), 0) FROM messages WHERE scope = ? AND sentAt <= ?"
        return try snapshot.rows(sql, [.id(conversation), .date(clock.latest)], as: Milliseconds.self).first ?? 0
    }
}
