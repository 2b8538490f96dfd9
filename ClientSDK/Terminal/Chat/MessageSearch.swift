import Foundation
import Tidemark
import TidemarkChat
import TidemarkCommandLine
import TidemarkModel

/// Search in the messages on this device.
enum MessageSearch {
    static let hitsMax = 20

    /// Returns the messages of the conversation that contain the words, newest first.
    static func hits(_ text: String, in room: ChatRoom) async throws -> [MessageHit] {
        try await room.chat.messages.search(text, in: room.conversation, order: .newestFirst, limit: hitsMax)
    }

    /// Returns them as lines for people: the oldest first, matches between asterisks, and the count at the end.
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
