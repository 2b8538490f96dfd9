import SwiftUI
import Tidemark

/// A card's labels; each is written when it is switched, so two people can do so at the same time.
struct LabelSection: View {
    let tasks: TaskBoard
    let card: Card
    @State private var name = ""
    @EnvironmentObject private var problems: Problems

    var body: some View {
        Section("Labels") {
            ForEach(card.labels.union(["urgent", "waiting"]).sorted(), id: \.self) { label in
                Toggle(label, isOn: Binding(get: { card.labels.contains(label) }, set: { set(label, isOn: $0) }))
            }
            TextField("New label", text: $name).onSubmit {
                if !name.isEmpty { set(name, isOn: true) }
                name = ""
            }
        }
    }

    private func set(_ label: String, isOn: Bool) {
        problems.attempt { try await tasks.set(label, on: card.id, isOn: isOn) }
    }
}
