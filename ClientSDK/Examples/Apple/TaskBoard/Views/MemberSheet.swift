import Foundation
import SwiftUI
import Tidemark

/// The members of a board. A new member sees the board and all its cards, including earlier ones.
struct MemberSheet: View {
    let tasks: TaskBoard
    private let id: UUID
    @SyncQuery private var boards: [Board]
    @State private var name = ""
    @Environment(\.dismiss) private var dismiss
    @EnvironmentObject private var problems: Problems

    init(tasks: TaskBoard, board: UUID) {
        self.tasks = tasks
        id = board
        _boards = SyncQuery(where: \.id == board)
    }

    var body: some View {
        List {
            ForEach((boards.first?.members ?? []).sorted(), id: \.self) { Text($0) }
            TextField("User", text: $name)
            Button("Add") {
                problems.attempt {
                    try await tasks.add(UserID(name), to: id)
                    dismiss()
                }
            }
            .disabled(name.isEmpty)
        }
    }
}
