import SwiftUI
import Tidemark

struct BoardList: View {
    let tasks: TaskBoard
    let line: StatusLine?
    @SyncQuery(where: .all, order: [.by(\.name)]) private var boards: [Board]
    @State private var name = ""
    @EnvironmentObject private var problems: Problems

    var body: some View {
        NavigationStack {
            List {
                ForEach(boards) { board in NavigationLink(value: board) { Text(board.name) } }
                TextField("New board", text: $name).onSubmit(add)
            }
            .navigationTitle("Boards")
            .navigationDestination(for: Board.self) { BoardScreen(tasks: tasks, line: line, board: $0) }
            .safeAreaInset(edge: .top) { OfflineBanner(store: tasks.store, line: line) }
        }
    }

    private func add() {
        let name = name
        self.name = ""
        guard !name.isEmpty else { return }
        problems.attempt { try await tasks.makeBoard(name, columns: ["To do", "Under way", "Done"]) }
    }
}
