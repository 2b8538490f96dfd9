#if canImport(SwiftUI)
public import SwiftUI

/// One line that says how a store stands to its server. Compiled on Apple's platforms only; Tidemark's own tests do not
/// exercise it.
///
///     SyncStatusView(store: store)
public struct SyncStatusView: View {
    private let store: SyncStore
    @State private var status: SyncStatus?

    public init(store: SyncStore) { self.store = store }

    public var body: some View {
        Label(text, systemImage: symbol)
            .task {
                for await status in store.status { self.status = status }
            }
    }

    private var text: String {
        guard let status else { return "…" }
        let waiting = status.pending + status.failed
        let suffix = waiting > 0 ? ", \(waiting) waiting" : ""
        switch status.activity {
        case .idle: return "Not connected\(suffix)"
        case .syncing: return "Syncing\(suffix)"
        case .completed: return "Up to date"
        case .updateRequired: return "Update the app\(suffix)"
        case .error(let reason) where reason.code == .scopesLeftOut: return "Not everything is on this device\(suffix)"
        case .error: return "Trouble with the server\(suffix)"
        case .offline: return "Offline\(suffix)"
        }
    }

    private var symbol: String {
        switch status?.activity {
        case nil, .idle: "icloud.slash"
        case .syncing: "arrow.triangle.2.circlepath.icloud"
        case .completed: "checkmark.icloud"
        case .updateRequired: "arrow.down.app"
        case .error: "exclamationmark.icloud"
        case .offline: "icloud.slash"
        }
    }
}
#endif
