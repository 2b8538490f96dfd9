import SwiftUI
import Tidemark

extension View {
    /// Shows values as they arrive, as long as the view exists and the query is the same.
    ///
    /// - Parameter question: the value on which the query depends: another one starts it anew.
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
