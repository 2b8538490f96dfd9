import Foundation
import Tidemark

/// A message as the measured device shows it.
struct LiveMessage: SyncModel {
    static let collection = "messages"

    var id: UUID
    var conversationId: UUID
    var sentAt: Int64
    var text: String

    // Filled by the store.
    var serverID: Int64?
    var author: String?
    var syncState: RecordState?
}

extension LiveMessage {
    init(reading record: inout RecordReader) throws {
        self.init(
            id: try record["id"], conversationId: try record["conversationId"], sentAt: try record["sentAt"],
            text: try record["text"], serverID: try record["serverID"], author: try record["author"],
            syncState: try record["syncState"])
    }
}
