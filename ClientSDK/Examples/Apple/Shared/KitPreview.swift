import SwiftUI

/// A view on a store that a preview has filled: the screens are the app's own, the server is `TidemarkTestKit`'s, in
/// the same process.
struct KitPreview<Value: Sendable, Content: View>: View {
    let fill: @MainActor () async throws -> Value
    @ViewBuilder let content: @MainActor (Value) -> Content
    @State private var value: Value?
    @State private var failure: String?
    @State private var problems = Problems()

    var body: some View {
        Group {
            if let value {
                content(value)
            } else if let failure {
                Text(failure)
            } else {
                ProgressView()
            }
        }
        .modifier(ProblemAlert(problems: problems))
        .task { await show() }
    }

    private func show() async {
        do { value = try await fill() } catch { failure = "\(error)" }
    }
}
