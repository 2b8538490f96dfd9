import Foundation
import Tidemark

/// The app's operations on its boards. The views read by themselves; their writes go through here.
struct TaskBoard: Sendable {
    let store: SyncStore

    static let models: [any SyncModel.Type] = [Board.self, BoardColumn.self, Card.self, Step.self]

    /// Opens the account's file, which needs no network.
    static func open(account: UserID, at folder: URL, schema: Schema) async throws -> TaskBoard {
        TaskBoard(store: try await SyncStore.open(account: account, at: folder, schema: schema, models: models))
    }

    /// Creates a board with its first columns, all or nothing.
    @discardableResult
    func makeBoard(_ name: String, with others: Set<String> = [], columns: [String]) async throws -> Board {
        let board = Board(name: name, members: others.union([store.account.text]))
        try await store.write { batch in
            batch.create(board)
            for (number, name) in columns.enumerated() {
                batch.create(BoardColumn(boardId: board.id, name: name, position: Double(number + 1)))
            }
        }
        return board
    }

    func add(_ member: UserID, to board: UUID) async throws {
        try await store.repository(Board.self).update(board) { $0.members.insert(member.text) }
    }
}
