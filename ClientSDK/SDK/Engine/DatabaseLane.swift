import Dispatch

/// Runs blocking database work off the cooperative threads, one piece after the other.
struct DatabaseLane: Sendable {
    private let queue: DispatchQueue?

    /// - Parameter isInline: true to work on the calling thread, if it may block.
    init(isInline: Bool) { queue = isInline ? nil : DispatchQueue(label: "tidemark.database") }

    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        guard let queue else { return try work() }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
