import Foundation
import Tidemark

extension TaskBoard {
    /// Adds a card below the others of its column; the transaction that writes it also reads that position.
    @discardableResult
    func addCard(_ title: String, to column: BoardColumn) async throws -> Card {
        let (card, _) = try await store.readAndWrite { snapshot, batch in
            let last = try snapshot.readAll(
                Card.self, where: \.columnId == column.id, order: [.by(\.position, .descending)], limit: 1)
            let card = Card(
                boardId: column.boardId, columnId: column.id, title: title, position: (last.first?.position ?? 0) + 1)
            batch.create(card)
            return card
        }
        return card
    }

    /// Moves a card into a column, before another one there or below all.
    func move(_ card: UUID, to column: UUID, before next: UUID? = nil) async throws {
        try await store.readAndWrite { snapshot, batch in
            let cards = try snapshot.readAll(
                Card.self, where: \.columnId == column && \.id != card, order: [.by(\.position)])
            let place = cards.firstIndex { $0.id == next } ?? cards.endIndex
            let above = cards[..<place].last?.position ?? 0
            let below = cards[place...].first?.position ?? above + 2
            batch.update(Card.self, card) { card in
                card.columnId = column
                card.position = (above + below) / 2
            }
        }
    }

    /// Saves an edited card: writes only what differs from the card that was shown.
    func save(_ edited: Card, shown: Card) async throws {
        try await store.repository(Card.self).update(edited, from: shown)
    }

    func set(_ label: String, on card: UUID, isOn: Bool) async throws {
        try await store.repository(Card.self).update(card) { card in
            if isOn { card.labels.insert(label) } else { card.labels.remove(label) }
        }
    }

    func vote(for card: UUID) async throws {
        try await store.repository(Card.self).update(card) { $0.votes += 1 }
    }

    /// Sets a picture. The picture and its digest on the card are durable together; the bytes are sent when there is a
    /// connection.
    func setCover(_ jpeg: Data, of card: Card) async throws {
        try await store.write { batch in
            let digest = batch.addBlob(jpeg, in: card.scope)
            batch.update(Card.self, card.id) { $0.cover = digest }
        }
    }

    /// Deletes a card with its checklist.
    func delete(_ card: Card) async throws {
        try await store.readAndWrite { snapshot, batch in
            for step in try snapshot.readAll(Step.self, where: \.cardId == card.id) { batch.delete(step) }
            batch.delete(card)
        }
    }
}
