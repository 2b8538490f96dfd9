import Foundation
import Tidemark

/// A search in the messages on this device, with everything that is shown of them.
struct MessageSearch: Sendable {
    let text: String
    /// The conversation; `nil` for all.
    let conversation: UUID?
    let order: MessageSearchOrder
    let limit: Int

    /// - Parameter now: the device's time.
    func read(_ snapshot: StoreSnapshot, now: Milliseconds) throws -> [MessageHit] {
        switch order {
        case .relevance: return try found(snapshot, order: .relevance)
        case .newestFirst:
            let latestFirst = SearchOrder<MessageRecord>.by(\.sentAt, .descending)
            let clock = try MessageClock(now: now, in: conversation, snapshot)
            guard try clock.isAnyAhead(in: conversation, snapshot) else {
                return try found(snapshot, order: latestFirst)
            }
            let believed = try found(snapshot, where: \.sentAt <= clock.latest, order: latestFirst)
            // Sorted by the order of their creation.
            let ahead = try found(snapshot, where: \.sentAt > clock.latest, order: .newestFirst)
            let all = (believed + ahead).sorted { clock.isEarlier($1.message, $0.message) }
            return Array(all.prefix(limit))
        }
    }

    private func found(
        _ snapshot: StoreSnapshot, where filter: ModelFilter<MessageRecord> = .all, order: SearchOrder<MessageRecord>
    ) throws -> [MessageHit] {
        let hits = try snapshot.search(
            text, in: MessageRecord.self, where: filter, order: order, limit: limit,
            in: conversation.map { ScopeID(record: $0) })
        var tracks: [UUID: [ReceiptTrack]] = [:]
        let pending = try snapshot.pendingWrites(
            to: hits.filter { $0.model.serverID == nil }.map(\.model.id), of: MessageRecord.collection)
        return try hits.map { hit in
            let room = hit.model.conversationId
            if tracks[room] == nil {
                tracks[room] = try snapshot.readAll(ReceiptRecord.self, "WHERE scope = ?", [.id(room)])
                    .compactMap { ReceiptTrack($0) }
            }
            return MessageHit(
                message: Message(
                    hit.model, account: snapshot.account, tracks: tracks[room] ?? [],
                    sending: pending[RecordKey(collection: MessageRecord.collection, id: UniqueID(hit.model.id))]),
                snippet: hit.snippet)
        }
    }
}

/// The order of the found messages.
public enum MessageSearchOrder: Hashable, Sendable {
    /// The best matches first.
    case relevance
    /// The latest first, in the order of a conversation.
    case newestFirst
}
