import SwiftUI
import Tidemark

/// Says how it stands with the server: what is queued, what is being sent, how long the server wants to be left alone; and nothing
/// when nothing is to be said. Everything works without a network, so there is no reason to stand in anybody's way.
struct OfflineBanner: View {
    let store: SyncStore
    let line: StatusLine?

    var body: some View {
        HStack { if let line { StatusWords(store: store, line: line) } }
    }
}

private struct StatusWords: View {
    let store: SyncStore
    @ObservedObject var line: StatusLine
    @EnvironmentObject private var problems: Problems

    var body: some View {
        HStack {
            if let text = line.text {
                Text(text).font(.footnote)
                Spacer()
            }
            if let status = line.status, status.failed > 0 {
                Button("Send again") { problems.attempt { try await store.outbox.retryFailed() } }
            }
        }
        .padding(.horizontal)
    }
}
