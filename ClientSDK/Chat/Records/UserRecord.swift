import Foundation
import Tidemark

/// A user as the schema defines it; its author is the user.
struct UserRecord: SyncModel, Equatable {
    static let collection = "users"

    var id: UUID
    var displayName: String
    var email: String?
    var imageURL: URL?

    // Filled by the store.
    var serverTime: Date?
    var createdTime: Date?
    var author: String?
    var syncState: RecordState?
}

extension UserRecord {
    init(reading record: inout RecordReader) throws {
        id = try record["id"]
        displayName = try record["displayName"]
        email = try record["email"]
        imageURL = try record["imageURL"]
        serverTime = try record["serverTime"]
        createdTime = try record["createdTime"]
        author = try record["author"]
        syncState = try record["syncState"]
    }
}

extension User {
    /// `nil` for a record that is not its author's own: anyone may create records here, but only one id is theirs.
    init?(_ record: UserRecord, sending: PendingWrite? = nil) {
        guard let author = record.author.map({ UserID($0) }), record.id == ChatID.profile(of: author) else {
            return nil
        }
        id = author
        displayName = record.displayName
        email = record.email
        imageURL = record.imageURL
        createdAt = record.createdTime ?? .distantPast
        updatedAt = record.serverTime
        syncState = record.syncState ?? .pending
        self.sending = sending
    }

    /// Returns the profiles of a snapshot, each with the progress of its sending.
    static func users(_ records: [UserRecord], _ snapshot: StoreSnapshot) throws -> [User] {
        let waiting = records.filter { ($0.syncState ?? .pending) != .synced }
        let writes = try snapshot.pendingWrites(to: waiting.map(\.id), of: UserRecord.collection)
        let sendings = Dictionary(writes.map { (UUID($0.key.id), $0.value) }, uniquingKeysWith: { _, last in last })
        return records.compactMap { User($0, sending: sendings[$0.id]) }
    }
}
