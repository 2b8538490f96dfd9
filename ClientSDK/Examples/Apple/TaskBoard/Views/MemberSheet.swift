import SwiftUI
import Tidemark

/// Who is taken in sees the board and all its cards, from then on and from before.
struct MemberSheet: View {
    let tasks: TaskBoard
    let board: Board
    @State private var name = ""
    @Environment(\.dismiss) private var dismiss
    @Environment(Problems.self) private var problems

    var body: some View {
        List {
            ForEach(board.members.sorted(), id: \.self) { Text($0) }
            TextField("User", text: $name)
            Button("Add") {
                problems.attempt {
                    try await tasks.add(UserID(name), to: board.id)
                    dismiss()
                }
            }
            .disabled(name.isEmpty)
        }
    }
}
