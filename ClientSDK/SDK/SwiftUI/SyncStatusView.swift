#if canImport(SwiftUI)
public import SwiftUI

/// One line about a store's synchronisation: what is sent and queued, how long the server asks to wait, and problems.
/// It is compiled on Apple's platforms only; Tidemark's own tests exercise `StatusLine`, which it shows.
///
///     SyncStatusView(store: store)
public struct SyncStatusView: View {
    @StateObject private var line: StatusLine

    public init(store: SyncStore) { _line = StateObject(wrappedValue: StatusLine(store)) }

    public var body: some View {
        HStack { if let text = line.text { Label(text, systemImage: symbol) } }
            .task { await line.run() }
    }

    private var symbol: String {
        switch line.activity {
        case .disconnected, .offline, nil: "icloud.slash"
        case .syncing: line.status?.pushPause == nil ? "arrow.triangle.2.circlepath.icloud" : "hourglass"
        case .upToDate: "checkmark.icloud"
        case .updateRequired: "arrow.down.app"
        case .error: "exclamationmark.icloud"
        }
    }
}
#endif
