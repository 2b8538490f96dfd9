import Foundation
import TidemarkModel

@testable import Tidemark

/// A note that reads its fields itself, as `Note` reads them with a decoder.
struct HandNote: SyncModel, Equatable {
    static let collection = "notes"
    var note: Note
    var id: UUID { note.id }

    init(reading record: inout RecordReader) throws {
        note = Note(
            id: try record["id"], room: try record["room"], text: try record["text"], likes: try record["likes"],
            best: try record["best"], tags: try record["tags"], seen: try record["seen"], done: try record["done"],
            due: try record["due"], meta: try record["meta"], body: try record["body"],
            weight: try record["weight"], file: try record["file"], serverID: try record["serverID"],
            serverTime: try record["serverTime"], author: try record["author"],
            syncState: try record["syncState"])
    }

    init(from decoder: any Decoder) throws { note = try Note(from: decoder) }

    func encode(to encoder: any Encoder) throws { try note.encode(to: encoder) }
}

/// Requires every field, so that each of them can be missing.
struct StrictNote: SyncModel, Equatable {
    static let collection = "notes"
    var id: UUID
    var text: String
    var likes: Int
    var best: Double
    var tags: Set<String>
    var seen: [String]
    var done: Bool
    var due: Date
    var serverID: Int64
    var author: String
    var syncState: RecordState
    var createdTime: Date
}

/// The same, read by hand, in another order than the properties'.
struct StrictHandNote: SyncModel, Equatable {
    static let collection = "notes"
    var note: StrictNote
    var id: UUID { note.id }

    init(reading record: inout RecordReader) throws {
        note = StrictNote(
            id: try record["id"], text: try record["text"], likes: try record["likes"], best: try record["best"],
            tags: try record["tags"], seen: try record["seen"], done: try record["done"], due: try record["due"],
            serverID: try record["serverID"], author: try record["author"], syncState: try record["syncState"],
            createdTime: try record["createdTime"])
    }

    init(from decoder: any Decoder) throws { note = try StrictNote(from: decoder) }

    func encode(to encoder: any Encoder) throws { try note.encode(to: encoder) }
}
