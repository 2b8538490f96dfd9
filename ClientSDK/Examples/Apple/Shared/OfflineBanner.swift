import SwiftUI
import Tidemark

/// Shows the state of the synchronisation: what is queued, what is being sent, how long the server asks to wait;
/// nothing when there is nothing to report. Everything works without a network, so it never blocks the user.
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
            if let status = line.status, status.stalled > 0 {
                Button("Send again") { problems.attempt { try await store.outbox.retryStalled() } }
            }
        }
        .padding(.horizontal)
    }
}
