import Dispatch

/// Blocking database work off the cooperative threads, one piece after the other.
struct DatabaseLane: Sendable {
    private let queue = DispatchQueue(label: "tidemark.database")

    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: work)) }
        }
    }
}
