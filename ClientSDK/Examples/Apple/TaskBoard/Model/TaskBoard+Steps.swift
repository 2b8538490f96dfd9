import Foundation
import Tidemark

extension TaskBoard {
    @discardableResult
    func addStep(_ text: String, to card: Card) async throws -> Step {
        let (step, _) = try await store.readAndWrite { snapshot, batch in
            let last = try snapshot.readAll(
                Step.self, where: \.cardId == card.id, order: [.by(\.position, .descending)], limit: 1)
            let step = Step(
                boardId: card.boardId, cardId: card.id, text: text, position: (last.first?.position ?? 0) + 1)
            batch.create(step)
            return step
        }
        return step
    }

    func tick(_ step: UUID, isDone: Bool) async throws {
        try await store.repository(Step.self).update(step) { $0.isDone = isDone }
    }

    /// Observes the progress of the checklists of a board's cards: now and after each change.
    func observeProgress(of board: UUID) -> LiveValues<[UUID: CardProgress]> {
        store.observe { snapshot in
            let rows = try snapshot.rows(
                """
                SELECT cardId, count(*) AS total, count(*) FILTER (WHERE isDone = 1) AS done
                FROM steps
                WHERE scope = ?
                GROUP BY cardId
                """, [.string(ScopeID(record: board).text)], as: CardProgress.self)
            return Dictionary(rows.map { ($0.cardId, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }
}

/// The progress of one card's checklist.
struct CardProgress: Decodable, Hashable, Sendable {
    var cardId: UUID
    var done: Int
    var total: Int
}
