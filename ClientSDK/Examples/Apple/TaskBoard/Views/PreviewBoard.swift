import Foundation
import Tidemark
import TidemarkTestKit

/// A board of ann's that bob has worked on, for previews.
struct PreviewBoard: Sendable {
    /// The kit; it must live as long as its clients' stores are used.
    let kit: TestKit
    let tasks: TaskBoard
    let board: Board

    static func make() async throws -> PreviewBoard {
        let kit = try TestKit(schema: try BoardSchema.read())
        let (ann, bob) = (try await kit.client("ann"), try await kit.client("bob"))
        let tasks = TaskBoard(store: ann.store)
        let board = try await tasks.makeBoard("Move", with: ["bob"], columns: ["To do", "Under way", "Done"])
        try await kit.settle()
        let columns = try await bob.store.repository(BoardColumn.self).readAll(
            where: \.boardId == board.id, order: [.by(\.position)], in: board.scope)
        for (title, column) in zip(["Pack boxes", "Book a van", "Give notice"], columns) {
            try await TaskBoard(store: bob.store).addCard(title, to: column)
        }
        try await kit.settle()
        return PreviewBoard(kit: kit, tasks: tasks, board: board)
    }
}
