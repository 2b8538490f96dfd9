import Foundation
import Tidemark

/// A board. Who is a member sees it and all that is on it.
struct Board: SyncModel, Hashable {
    static let collection = "boards"
    var id = UUID()
    var name: String
    var members: Set<String>

    /// What belongs to the board.
    var scope: ScopeID { ScopeID(record: id) }
}

/// A column of a board: what is to be done, what is under way.
struct BoardColumn: SyncModel, Hashable {
    static let collection = "columns"
    var id = UUID()
    var boardId: UUID
    var name: String
    var position: Double
}
