import TidemarkLock

/// What a batch has noted and nobody has carried out yet, in its order. The batch shares it with the snapshot of the same
/// transaction, which has it carried out before it reads.
final class NotedSteps: Sendable {
    private let steps = Lock<[WriteBatch.Step]>([])

    func note(_ step: @escaping WriteBatch.Step) { steps.withLock { $0.append(step) } }

    /// The steps, which are then noted no more.
    func take() -> [WriteBatch.Step] {
        steps.withLock { steps in
            defer { steps = [] }
            return steps
        }
    }
}
