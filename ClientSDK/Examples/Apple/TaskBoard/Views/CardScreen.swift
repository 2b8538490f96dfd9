import Foundation
import SwiftUI
import Tidemark

/// Edits a card. What was changed here is written, and nothing else, so that what others do to it meanwhile stays.
struct CardScreen: View {
    let tasks: TaskBoard
    let card: Card
    @State private var edited: Card
    @Environment(\.dismiss) private var dismiss
    @Environment(Problems.self) private var problems

    init(tasks: TaskBoard, card: Card) {
        self.tasks = tasks
        self.card = card
        _edited = State(initialValue: card)
    }

    var body: some View {
        List {
            Section("Card") {
                TextField("Title", text: $edited.title)
                TextField("Details", text: details)
                Toggle("Due", isOn: isDue)
                if let due = edited.due { DatePicker("On", selection: Binding(get: { due }, set: { edited.due = $0 })) }
            }
            LabelSection(tasks: tasks, card: card)
            Checklist(tasks: tasks, card: card)
            Section("Picture") {
                if let cover = card.cover { BlobPicture(store: tasks.store, digest: cover, scope: card.scope) }
                PictureButton { try await tasks.setCover($0.jpeg, of: card) }
            }
            Button("Delete", role: .destructive) {
                problems.attempt {
                    try await tasks.delete(card)
                    dismiss()
                }
            }
        }
        .toolbar {
            Button("Save") {
                problems.attempt {
                    try await tasks.save(edited, shown: card)
                    dismiss()
                }
            }
        }
    }

    private var details: Binding<String> {
        Binding(get: { edited.details ?? "" }, set: { edited.details = $0.isEmpty ? nil : $0 })
    }

    private var isDue: Binding<Bool> {
        Binding(get: { edited.due != nil }, set: { edited.due = $0 ? Date() : nil })
    }
}
