import Combine
import SwiftUI

/// The error of a user's action, until the user has read it.
@MainActor
final class Problems: ObservableObject {
    @Published var shown: String?

    /// Runs the action of a button. Writes are durable when they return, and need no network: an error here is about
    /// the write itself, such as a rule of the schema or a full disk.
    func attempt(_ action: @escaping @MainActor () async throws -> Void) {
        Task {
            do {
                try await action()
            } catch {
                shown = "\(error)"
            }
        }
    }
}

/// Shows the problems of the views inside.
struct ProblemAlert: ViewModifier {
    @ObservedObject var problems: Problems

    func body(content: Content) -> some View {
        content
            .environmentObject(problems)
            .alert("That did not work", isPresented: isShown) {
                Button("OK") {}
            } message: {
                Text(problems.shown ?? "")
            }
    }

    private var isShown: Binding<Bool> {
        Binding(get: { problems.shown != nil }, set: { if !$0 { problems.shown = nil } })
    }
}
