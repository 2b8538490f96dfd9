import SwiftUI
import Tidemark

struct BoardListPreviews: PreviewProvider {
    static var previews: some View {
        KitPreview(fill: PreviewBoard.make) { made in
            BoardList(tasks: made.tasks, line: nil).environment(\.syncStore, made.tasks.store)
        }
    }
}

struct BoardScreenPreviews: PreviewProvider {
    static var previews: some View {
        KitPreview(fill: PreviewBoard.make) { made in
            NavigationStack { BoardScreen(tasks: made.tasks, line: nil, board: made.board) }
                .environment(\.syncStore, made.tasks.store)
        }
    }
}
