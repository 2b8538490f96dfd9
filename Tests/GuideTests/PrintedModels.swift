import Foundation
import Tidemark

// Models of the schema box-app, version 3.

/// Each of them is a scope: `ScopeID(record: id)`.
struct Box: SyncModel, Hashable {
    static let collection = "boxes"
    var id = UUID()
    var members: Set<String>
    var title: String

    // Filled by the store.
    var serverTime: Date?
    var author: String?
    var syncState: RecordState?
}

/// Everybody in the workspace sees it, in the scope `directory`.
struct Country: SyncModel, Hashable {
    static let collection = "countries"
    var id: String  // the key, field code
    var name: String

    // Filled by the store.
    var serverTime: Date?
    var author: String?
    var syncState: RecordState?
}

/// Everybody in the workspace sees it, in the scope `directory`.
struct LabelRecord: SyncModel, Hashable {
    static let collection = "labels"
    var id: UUID
    var name: String

    // Filled by the store.
    var serverTime: Date?
    var author: String?
    var syncState: RecordState?
}

/// Belongs to the scope that `boxId` names.
struct TaskRecord: SyncModel, Hashable {
    static let collection = "tasks"
    var id = UUID()
    let boxId: UUID  // of boxes
    var title: String
    var approved: Bool?  // written by services
    var `case`: String?
    var cover: BlobDigest?
    var due: Date?
    var isDone: Bool = false
    var mood: String = "so \"so\""
    var origin: String?  // never changes once the record exists
    var rank: Int = 3
    var ratio: Double = 2.0
    var since: Date = Date(timeIntervalSince1970: 1.5)
    // var size: …  a Codable type of the app's, for a field of type map
    // var steps: …  a Codable type of the app's, for a field of type json
    var tags: Set<String>?
    var votes: Int?
    var weight: Double?

    // Filled by the store.
    var serverTime: Date?
    var author: String?
    var syncState: RecordState?
}

/// For `SyncStore.open(account:at:schema:models:)`, which says when one of them does not fit the schema.
enum BoxAppModels {
    static let all: [any SyncModel.Type] = [Box.self, Country.self, LabelRecord.self, TaskRecord.self]
}
