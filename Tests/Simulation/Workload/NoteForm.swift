import Foundation
import Tidemark

/// The values that a form shows of a note.
struct NoteForm: SyncModel {
    static let collection = "notes"
    var id: UUID
    var body: String?
    var plan: String?
    var high: Int?
}
