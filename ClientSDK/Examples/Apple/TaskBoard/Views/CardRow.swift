import SwiftUI
import Tidemark

/// A card as its column shows it: labels, votes, progress of the checklist, and whether the server has it.
struct CardRow: View {
    let tasks: TaskBoard
    let card: Card
    var progress: CardProgress?
    @EnvironmentObject private var problems: Problems

    var body: some View {
        VStack(alignment: .leading) {
            if let cover = card.cover { BlobPicture(store: tasks.store, digest: cover, scope: card.scope) }
            Text(card.title)
            if !card.labels.isEmpty { Text(card.labels.sorted().joined(separator: " · ")).font(.caption) }
            HStack {
                Button("\(card.votes)", systemImage: "hand.thumbsup") {
                    problems.attempt { try await tasks.vote(for: card.id) }
                }
                if let progress { Label("\(progress.done)/\(progress.total)", systemImage: "checklist") }
                if let due = card.due { Text(due, style: .date) }
                if let symbol { Image(systemName: symbol) }
            }
            .font(.caption)
        }
    }

    private var symbol: String? {
        switch card.syncState {
        case .pending: "clock"
        case .failed: "exclamationmark.circle"
        case .conflict: "arrow.triangle.branch"
        case .synced, nil: nil
        }
    }
}
