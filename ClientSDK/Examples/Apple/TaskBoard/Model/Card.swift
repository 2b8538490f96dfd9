import Foundation
import Tidemark

/// A card. Two people may change it at the same time: each field merges by its own rule in the schema.
struct Card: SyncModel, Hashable {
    static let collection = "cards"
    var id = UUID()
    var boardId: UUID
    var columnId: UUID
    var title: String
    var details: String?
    /// A number between those of its neighbours, so that moving a card changes no other one.
    var position: Double
    /// A set; labels are added and removed one by one.
    var labels: Set<String> = []
    /// A counter: two votes at the same time are two.
    var votes = 0
    /// The digest of the picture's bytes, which travel separately.
    var cover: BlobDigest?
    var due: Date?
    /// Filled by the store.
    var syncState: RecordState?

    var scope: ScopeID { ScopeID(record: boardId) }
}

/// One line of a card's checklist: a record of its own, so that two people can tick two lines.
struct Step: SyncModel, Hashable {
    static let collection = "steps"
    var id = UUID()
    var boardId: UUID
    var cardId: UUID
    var text: String
    var isDone = false
    var position: Double

    static let defaults: Fields = ["isDone": false]
}
