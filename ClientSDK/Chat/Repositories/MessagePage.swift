import Foundation
import Tidemark

/// One page of a conversation, with everything that is shown of its messages.
struct MessagePage: Sendable {
    /// What the page ends before: a moment, or one message of it.
    struct End: Sendable {
        let sentAt: Date
        let id: UUID?
    }

    private let conversation: UUID
    private let end: End?
    private let limit: Int

    init(_ conversation: UUID, before end: End? = nil, limit: Int) {
        self.conversation = conversation
        self.end = end
        self.limit = max(0, limit)
    }

    func read(_ snapshot: StoreSnapshot) throws -> [Message] {
        var clause = "WHERE scope = ?"
        var arguments: [FieldValue] = [.id(conversation)]
        if let end {
            clause += end.id == nil ? " AND sentAt < ?" : " AND sentAt <= ? AND (sentAt < ? OR local_id < ?)"
            arguments.append(.date(end.sentAt))
            if let id = end.id { arguments += [.date(end.sentAt), .id(id)] }
        }
        clause += " ORDER BY sentAt DESC, local_id DESC LIMIT ?"
        arguments.append(.integer(Int64(limit)))
        let records = try snapshot.models(MessageRecord.self, clause, arguments)
        let tracks = try snapshot.models(ReceiptRecord.self, "WHERE scope = ?", [.id(conversation)])
            .compactMap { ReceiptTrack($0) }
        let unsent = records.filter { $0.syncState == .pending || $0.syncState == .failed }.map(\.id)
        let pending = try snapshot.pendingWrites(to: unsent, of: MessageRecord.collection)
        let account = snapshot.account
        // As they are wanted, so that little is left to sort.
        let messages = records.reversed().map { record in
            let key = RecordKey(collection: MessageRecord.collection, id: UniqueID(record.id))
            return Message(record, account: account, tracks: tracks, sending: pending[key])
        }
        let all = try messages + refused(snapshot)
        return Array(all.sorted(by: Message.isEarlier).suffix(limit))
    }

    private func refused(_ snapshot: StoreSnapshot) throws -> [Message] {
        try snapshot.refused(MessageRecord.self).compactMap { record, transaction in
            guard record.conversationId == conversation, isBeforeEnd(record) else { return nil }
            return Message(record, account: snapshot.account, failure: transaction.rejection)
        }
    }

    private func isBeforeEnd(_ record: MessageRecord) -> Bool {
        guard let end else { return true }
        guard record.sentAt == end.sentAt, let id = end.id else { return record.sentAt < end.sentAt }
        return UniqueID(record.id) < UniqueID(id)
    }

    /// The largest `sentAt` that is here; 0 when there is none.
    static func newestTime(in conversation: UUID, _ snapshot: StoreSnapshot) throws -> Milliseconds {
        let sql = "SELECT coalesce(max(sentAt), 0) FROM messages WHERE scope = ?"
        return try snapshot.rows(sql, [.id(conversation)], as: Milliseconds.self).first ?? 0
    }
}
