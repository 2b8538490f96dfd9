import Foundation
import SwiftUI
import Tidemark

// The code of the guide "SwiftUI", in its order.

@main struct CardsApp: App {
    @State private var store: SyncStore?

    var body: some Scene {
        WindowGroup {
            BoardView(board: UUID())
                .environment(\.syncStore, store)
                .task {
                    do { store = try await openStore() } catch { print("show this: \(error)") }
                }
        }
    }
}

struct Card: SyncModel {
    static let collection = "cards"
    var id = UUID()
    var boardId: UUID
    var title: String
    var phase: String
}

func openStore() async throws -> SyncStore {
    guard let file = Bundle.main.url(forResource: "board.schema", withExtension: "json") else {
        throw CocoaError(.fileNoSuchFile)
    }
    return try await SyncStore.open(
        account: UserID("ann"), at: URL.applicationSupportDirectory,
        schema: try Schema(json: Array(try Data(contentsOf: file))))
}

struct BoardView: View {
    @SyncQuery private var cards: [Card]

    init(board: UUID) {
        _cards = SyncQuery(where: \.boardId == board, order: [.by(\.title)], limit: 100, in: .of(board))
    }

    var body: some View {
        if $cards.error != nil {
            Button("Read again") { $cards.retry() }
        } else if $cards.isLoading && cards.isEmpty {
            ProgressView()
        } else {
            List { ForEach(cards) { Text($0.title) } }
        }
    }
}

struct PhaseView: View {
    let store: SyncStore
    let phase: String
    @StateObject private var cards = LiveRecords<Card>()

    var body: some View {
        List { ForEach(cards.records) { Text($0.title) } }
            .task(id: phase) { cards.ask(store, where: \.phase == phase, order: [.by(\.title)]) }
    }
}

struct OpenCount: View {
    let store: SyncStore
    @State private var count = 0

    var body: some View {
        Text("\(count) open")
            .task {
                do {
                    let counts = store.repository(Card.self).observeCount(where: \.phase == "open")
                    for try await number in counts { count = number }
                } catch {
                    count = 0
                }
            }
    }
}

struct CloseButton: View {
    let store: SyncStore
    let card: Card

    var body: some View {
        Button("Close") {
            Task {
                do {
                    try await store.repository(Card.self).update(card.id) { $0.phase = "closed" }
                } catch {
                    print("not written: \(error)")  // a rule of the schema, or a full disk: show it
                }
            }
        }
    }
}

struct OfflineLine: View {
    @StateObject private var line: StatusLine

    init(store: SyncStore) { _line = StateObject(wrappedValue: StatusLine(store)) }

    var body: some View {
        HStack { if let text = line.text { Text(text) } }
            .task { await line.run() }
    }
}

struct Pausing: ViewModifier {
    let store: SyncStore
    @Environment(\.scenePhase) private var phase

    func body(content: Content) -> some View {
        content.onChange(of: phase) { phase in if phase == .active { store.resume() } else { store.pause() } }
    }
}
