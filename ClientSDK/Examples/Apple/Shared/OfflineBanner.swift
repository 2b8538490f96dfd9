import SwiftUI
import Tidemark

/// Says what keeps the store from being in step, and nothing when nothing does: everything works without a network, so there
/// is no reason to stand in anybody's way.
struct OfflineBanner: View {
    let store: SyncStore
    @State private var status: SyncStatus?
    @Environment(Problems.self) private var problems

    var body: some View {
        HStack {
            if let text {
                Text(text).font(.footnote)
                Spacer()
            }
            if let status, status.failed > 0 {
                Button("Send again") { problems.attempt { try await store.outbox.retryFailed() } }
            }
        }
        .padding(.horizontal)
        .task { for await status in store.status { self.status = status } }
    }

    private var text: String? {
        guard let status else { return nil }
        let waiting = status.pending == 0 ? "" : ", \(status.pending) to send"
        switch status.activity {
        case .idle, .syncing, .completed: return status.failed > 0 ? "\(status.failed) got no answer" : nil
        case .offline: return "Offline\(waiting)"
        case .updateRequired(let minimum): return "Please update to \(minimum) or later\(waiting)"
        case .error(let reason): return reason.code == .unauthenticated ? "Sign in again" : "\(reason.code.rawValue)"
        }
    }
}
