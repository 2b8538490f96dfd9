import SwiftUI
import Tidemark

/// A card's labels, each written when it is switched: two people may do so at the same time.
struct LabelSection: View {
    let tasks: TaskBoard
    let card: Card
    @State private var on: Set<String>
    @State private var name = ""
    @Environment(Problems.self) private var problems

    init(tasks: TaskBoard, card: Card) {
        self.tasks = tasks
        self.card = card
        _on = State(initialValue: card.labels)
    }

    var body: some View {
        Section("Labels") {
            ForEach(on.union(["urgent", "waiting"]).sorted(), id: \.self) { label in
                Toggle(label, isOn: Binding(get: { on.contains(label) }, set: { set(label, isOn: $0) }))
            }
            TextField("New label", text: $name).onSubmit {
                if !name.isEmpty { set(name, isOn: true) }
                name = ""
            }
        }
    }

    private func set(_ label: String, isOn: Bool) {
        if isOn { on.insert(label) } else { on.remove(label) }
        problems.attempt { try await tasks.set(label, on: card.id, isOn: isOn) }
    }
}
