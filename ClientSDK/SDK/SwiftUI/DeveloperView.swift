#if canImport(SwiftUI)
public import SwiftUI

/// The developer's screen as a list with two buttons. It is compiled on Apple's platforms only; Tidemark's own tests
/// exercise `DeveloperScreen`, which it shows.
///
///     DeveloperView(store: store)
public struct DeveloperView: View {
    private enum Wish: Hashable, Sendable {
        case syncNow(Int)
        case clearCache(Int)
    }

    @StateObject private var screen: DeveloperScreen
    /// The last button press; the number makes two presses differ.
    @State private var wish: Wish?
    @State private var presses = 0

    public init(store: SyncStore) { _screen = StateObject(wrappedValue: DeveloperScreen(store)) }

    public var body: some View {
        List {
            ForEach(screen.lines) { line in
                Label(
                    "\(line.title): \(line.value)", systemImage: line.isAlarming ? "exclamationmark.triangle" : "circle"
                )
            }
            Button("Sync now") { press { .syncNow($0) } }
            Button("Clear cache") { press { .clearCache($0) } }
            Text(screen.error.map { "\($0)" } ?? "")
        }
        .task { await screen.run() }
        .task(id: wish) {
            switch wish {
            case .syncNow: await screen.syncNow()
            case .clearCache: await screen.clearCache()
            case nil: break
            }
        }
    }

    private func press(_ make: (Int) -> Wish) {
        presses += 1
        wish = make(presses)
    }
}
#endif
