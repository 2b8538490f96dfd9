import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel

/// Search in the messages that are on this device.
enum MessageSearch {
    static let hitsMax = 20

    /// Messages of the conversation in which the words are, newest first.
    static func hits(_ text: String, in room: ChatRoom) async throws -> [MessageHit] {
        try await room.chat.messages.search(text, in: room.conversation, orderBy: .recency, limit: hitsMax)
    }

    /// The same as lines for a person: the oldest first, what was found between asterisks, and at the end how many.
    static func lines(_ text: String, in room: ChatRoom) async throws -> [String] {
        let (hits, names) = (try await hits(text, in: room), try await room.names())
        guard !hits.isEmpty else { return ["No message on this device contains \"\(text)\"."] }
        let lines = hits.reversed().map { hit in
            let line = ChatLine(hit.message, account: room.chat.store.account, names, in: room.zone)
            let words = hit.snippet.pieces.map { $0.isMatch ? "*\($0.text)*" : $0.text }.joined()
            return "  \(line.day) \(line.time) \(line.sender): \(words)"
        }
        let count =
            hits.count == hitsMax
            ? "The newest \(hitsMax) messages on this device that contain \"\(text)\"."
            : "\(hits.count.counted("message")) on this device with \"\(text)\"."
        return lines + [count]
    }
}
