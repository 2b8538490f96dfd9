import Foundation
import SwiftUI
import Tidemark

/// The cards of a column. A card that is dropped here is added below the others.
struct ColumnView: View {
    let tasks: TaskBoard
    let column: BoardColumn
    let progress: [UUID: CardProgress]
    @SyncQuery private var cards: [Card]
    @State private var title = ""
    @EnvironmentObject private var problems: Problems

    init(tasks: TaskBoard, column: BoardColumn, progress: [UUID: CardProgress]) {
        self.tasks = tasks
        self.column = column
        self.progress = progress
        _cards = SyncQuery(
            where: \.columnId == column.id, order: [.by(\.position)], in: .of(column.boardId))
    }

    var body: some View {
        VStack(alignment: .leading) {
            Text("\(column.name) (\(cards.count))").font(.headline)
            if $cards.error != nil { Button("Read again") { $cards.retry() } }
            ForEach(cards) { card in
                NavigationLink(value: card) { CardRow(tasks: tasks, card: card, progress: progress[card.id]) }
                    .draggable(card.id.uuidString)
            }
            TextField("New card", text: $title).onSubmit(add)
        }
        .frame(width: 260)
        .dropDestination(for: String.self) { ids, _ in
            for id in ids.compactMap({ UUID(uuidString: $0) }) {
                problems.attempt { try await tasks.move(id, to: column.id) }
            }
            return !ids.isEmpty
        }
    }

    private func add() {
        let title = title
        self.title = ""
        guard !title.isEmpty else { return }
        problems.attempt { try await tasks.addCard(title, to: column) }
    }
}
