import Foundation
import Tidemark

/// A conversation as the schema defines it.
struct ConversationRecord: SyncModel, Equatable {
    static let collection = "conversations"

    var id: UUID
    var kind: String
    var participantIds: Set<String>
    var adminIds: Set<String>?
    /// The members' names at the time when they were added, for use until their profiles arrive.
    var participantNames: [String: String]?
    var name: String?
    var imageURL: URL?

    // Filled by the store.
    var serverTime: Date?
    var createdTime: Date?
    var author: String?
    var syncState: RecordState?
}

extension ConversationRecord {
    init(reading record: inout RecordReader) throws {
        id = try record["id"]
        kind = try record["kind"]
        participantIds = try record["participantIds"]
        adminIds = try record["adminIds"]
        participantNames = try record["participantNames"]
        name = try record["name"]
        imageURL = try record["imageURL"]
        serverTime = try record["serverTime"]
        createdTime = try record["createdTime"]
        author = try record["author"]
        syncState = try record["syncState"]
    }
}
