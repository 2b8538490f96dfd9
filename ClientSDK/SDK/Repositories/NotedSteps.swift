import TidemarkLock

/// The steps that a batch has noted and nobody has executed yet, in their order. The batch shares them with the
/// snapshot of the same transaction, which executes them before it reads.
final class NotedSteps: Sendable {
    private let steps = Lock<[WriteBatch.Step]>([])

    func note(_ step: @escaping WriteBatch.Step) { steps.withLock { $0.append(step) } }

    /// Returns the steps and removes them.
    func take() -> [WriteBatch.Step] {
        steps.withLock { steps in
            defer { steps = [] }
            return steps
        }
    }
}
