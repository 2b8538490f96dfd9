import SwiftUI
import Tidemark

extension View {
    /// Shows values as they come, for as long as the view is there and the question is the same.
    ///
    /// - Parameter question: what the values depend on: another one begins anew.
    func following<Value: Sendable, Question: Equatable>(
        _ question: Question, _ values: @escaping @MainActor () -> LiveValues<Value>,
        show: @escaping @MainActor (Value) -> Void, fail: @escaping @MainActor (any Error) -> Void
    ) -> some View {
        task(id: question) { @MainActor in
            do {
                for try await value in values() { show(value) }
            } catch is CancellationError {
                return
            } catch {
                fail(error)
            }
        }
    }
}
