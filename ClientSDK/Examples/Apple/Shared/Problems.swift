import Combine
import SwiftUI

/// What went wrong with something that the user asked for, until it is read.
@MainActor
final class Problems: ObservableObject {
    @Published var shown: String?

    /// Does what a button asks for. Writes are durable when they return, and need no network: what is thrown here is about
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
