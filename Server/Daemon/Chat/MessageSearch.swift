import Foundation
import TidemarkChat
import TidemarkModel

/// Search in the messages that are on this device.
enum MessageSearch {
    static let hitsMax = 20

    /// Messages of the conversation in which the words are, newest first, as `day time sender: text`.
    static func hits(_ text: String, in room: ChatRoom) async throws -> [String] {
        let found = try await room.chat.messages.search(
            text, in: room.conversation, orderBy: .recency, limit: hitsMax)
        return found.map { hit in
            let (day, time) = ChatLine.clock(hit.message.sentAt, in: room.zone)
            return "\(day) \(time) \(hit.message.senderName ?? hit.message.senderID.text): \(hit.message.text)"
        }
    }
}
