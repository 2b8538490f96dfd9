import SwiftUI
import Tidemark

struct Checklist: View {
    let tasks: TaskBoard
    let card: Card
    @SyncQuery private var steps: [Step]
    @State private var text = ""
    @EnvironmentObject private var problems: Problems

    init(tasks: TaskBoard, card: Card) {
        self.tasks = tasks
        self.card = card
        _steps = SyncQuery(where: \.cardId == card.id, order: [.by(\.position)], in: card.scope)
    }

    var body: some View {
        Section("Checklist") {
            ForEach(steps) { step in
                Toggle(
                    step.text,
                    isOn: Binding(
                        get: { step.isDone },
                        set: { isDone in problems.attempt { try await tasks.tick(step.id, isDone: isDone) } }))
            }
            TextField("New step", text: $text).onSubmit(add)
        }
    }

    private func add() {
        let text = text
        self.text = ""
        guard !text.isEmpty else { return }
        problems.attempt { try await tasks.addStep(text, to: card) }
    }
}
