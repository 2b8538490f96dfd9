import Foundation
import Tidemark

/// A search in the messages that are here, with everything that is shown of them.
struct MessageSearch: Sendable {
    let text: String
    /// `nil` for all conversations.
    let conversation: UUID?
    let order: MessageSearchOrder
    let limit: Int

    func read(_ snapshot: StoreSnapshot) throws -> [MessageHit] {
        let hits = try snapshot.search(
            text, in: MessageRecord.self, orderBy: order == .relevance ? .relevance : .by(.descending("sentAt")),
            limit: limit, in: conversation.map { ScopeID(record: $0) })
        var tracks: [UUID: [ReceiptTrack]] = [:]
        let pending = try snapshot.pendingWrites(
            to: hits.filter { $0.model.serverID == nil }.map(\.model.id), of: MessageRecord.collection)
        return try hits.map { hit in
            let room = hit.model.conversationId
            if tracks[room] == nil {
                tracks[room] = try snapshot.models(ReceiptRecord.self, "WHERE scope = ?", [.id(room)])
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

/// Which of the messages found come first.
public enum MessageSearchOrder: Hashable, Sendable {
    /// Those that say it most.
    case relevance
    /// The latest.
    case recency
}
