import Foundation
import Tidemark

/// A message as the schema defines it.
struct MessageRecord: SyncModel, Equatable {
    static let collection = "messages"

    var id: UUID
    var conversationId: UUID
    var text: String?
    var senderName: String?
    var sentAt: Date
    var kind: String?
    var attachment: AttachmentField?

    // Filled by the store.
    var serverID: Int64?
    var serverTime: Date?
    var createdTime: Date?
    var author: String?
    var syncState: RecordState?
}

extension MessageRecord {
    init(reading record: inout RecordReader) throws {
        id = try record["id"]
        conversationId = try record["conversationId"]
        text = try record["text"]
        senderName = try record["senderName"]
        sentAt = try record["sentAt"]
        kind = try record["kind"]
        attachment = try record["attachment"]
        serverID = try record["serverID"]
        serverTime = try record["serverTime"]
        createdTime = try record["createdTime"]
        author = try record["author"]
        syncState = try record["syncState"]
    }
}

extension Message {
    /// - Parameters:
    ///   - account: the author of a message that has none yet.
    ///   - tracks: the receipts of the conversation.
    init(
        _ record: MessageRecord, account: UserID, tracks: [ReceiptTrack] = [], sending: PendingWrite? = nil,
        failure: Rejection? = nil
    ) {
        let sender = record.author.map { UserID($0) } ?? account
        id = record.id
        conversationID = record.conversationId
        senderID = sender
        senderName = record.senderName
        text = record.text ?? ""
        attachment = record.attachment?.attachment
        sentAt = record.sentAt
        createdAt = record.createdTime ?? record.sentAt
        serverTime = record.serverTime
        serverID = record.serverID
        syncState = record.syncState ?? .pending
        self.sending = sending
        self.failure = failure
        let others = tracks.filter { $0.user != sender }
        deliveredTo = record.serverID.map { number in ReceiptTrack.receipts(others, { $0.deliveries }, number) } ?? []
        readBy = record.serverID.map { number in ReceiptTrack.receipts(others, { $0.readings }, number) } ?? []
    }
}
