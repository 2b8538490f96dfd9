import Foundation
import Tidemark

/// A chat message as the demo's devices store it.
struct DemoMessage: SyncModel {
    static let collection = "messages"

    var id: UUID
    var conversationId: UUID
    var senderName: String
    /// A time that is one millisecond later for each message of the script, so that the order of writing can be checked
    /// on all devices.
    var sentAt: Int64
    var text: String

    // Filled by the store.
    var serverID: Int64?
    var author: String?
    var syncState: RecordState?
}

extension DemoMessage {
    init(reading record: inout RecordReader) throws {
        self.init(
            id: try record["id"], conversationId: try record["conversationId"], senderName: try record["senderName"],
            sentAt: try record["sentAt"], text: try record["text"], serverID: try record["serverID"],
            author: try record["author"], syncState: try record["syncState"])
    }
}

/// A conversation as the demo's devices store it.
struct DemoConversation: SyncModel {
    static let collection = "conversations"

    var id = UUID()
    var kind = "group"
    var name: String
    var participantIds: Set<String>

    // Filled by the store.
    var syncState: RecordState?
}
