import Foundation
import SwiftUI
import Tidemark

/// Edits a card. Only fields changed here are written, so that others' changes of other fields stay.
struct CardScreen: View {
    let tasks: TaskBoard
    /// The card when the screen was opened.
    private let shown: Card
    /// The present card: labels, checklist and picture are written while the screen is open, on this and other devices.
    @SyncQuery private var current: [Card]
    @State private var edited: Card
    @Environment(\.dismiss) private var dismiss
    @EnvironmentObject private var problems: Problems

    init(tasks: TaskBoard, card: Card) {
        self.tasks = tasks
        shown = card
        _current = SyncQuery(where: \.id == card.id)
        _edited = State(initialValue: card)
    }

    private var card: Card { current.first ?? shown }

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
                    try await tasks.save(edited, shown: shown)
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
