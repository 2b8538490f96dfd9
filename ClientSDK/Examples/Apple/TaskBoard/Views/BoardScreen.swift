import Foundation
import SwiftUI
import Tidemark

/// A board's columns side by side, or the cards that the search found in it.
struct BoardScreen: View {
    let tasks: TaskBoard
    let line: StatusLine?
    let board: Board
    @SyncQuery private var columns: [BoardColumn]
    @State private var progress: [UUID: CardProgress] = [:]
    @State private var hits: [SearchHit<Card>] = []
    @State private var words = ""
    @State private var isSharing = false
    @EnvironmentObject private var problems: Problems

    init(tasks: TaskBoard, line: StatusLine?, board: Board) {
        self.tasks = tasks
        self.line = line
        self.board = board
        _columns = SyncQuery(where: \.boardId == board.id, order: [.by(\.position)], in: board.scope)
    }

    var body: some View {
        ScrollView(.horizontal) {
            HStack(alignment: .top) {
                if words.isEmpty {
                    ForEach(columns) { ColumnView(tasks: tasks, column: $0, progress: progress) }
                } else {
                    VStack(alignment: .leading) { ForEach(hits) { CardRow(tasks: tasks, card: $0.model) } }
                }
            }
            .padding(.horizontal)
        }
        .navigationTitle(board.name)
        .navigationDestination(for: Card.self) { CardScreen(tasks: tasks, card: $0) }
        .searchable(text: $words)
        .safeAreaInset(edge: .top) { OfflineBanner(store: tasks.store, line: line) }
        .toolbar { Button("Share", systemImage: "person.badge.plus") { isSharing = true } }
        .sheet(isPresented: $isSharing) { MemberSheet(tasks: tasks, board: board.id) }
        .following(board.id, { tasks.observeProgress(of: board.id) }) {
            progress = $0
        } fail: {
            problems.shown = "\($0)"
        }
        .following(words, { tasks.store.repository(Card.self).observeSearch(words, in: board.scope) }) {
            hits = $0
        } fail: {
            problems.shown = "\($0)"
        }
    }
}
