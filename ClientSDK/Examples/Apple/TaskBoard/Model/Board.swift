import Foundation
import Tidemark

/// A board. Its members see it and everything on it.
struct Board: SyncModel, Hashable {
    static let collection = "boards"
    var id = UUID()
    var name: String
    var members: Set<String>

    /// The scope of everything that belongs to the board.
    var scope: ScopeID { ScopeID(record: id) }
}

/// A column of a board, such as "to do" or "under way".
struct BoardColumn: SyncModel, Hashable {
    static let collection = "columns"
    var id = UUID()
    var boardId: UUID
    var name: String
    var position: Double
}
