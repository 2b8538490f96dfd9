import Dispatch

/// Blocking database work off the cooperative threads, one piece after the other.
struct DatabaseLane: Sendable {
    private let queue: DispatchQueue?

    /// - Parameter isInline: works where it is called, for callers on a thread that may block.
    init(isInline: Bool) { queue = isInline ? nil : DispatchQueue(label: "tidemark.database") }

    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        guard let queue else { return try work() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
