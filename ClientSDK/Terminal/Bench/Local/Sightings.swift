import Tidemark

/// The values that an observer has seen, with their times. The observer is a task of its own that waits while others
/// write, as in apps.
struct Sightings<Element: Sendable> {
    fileprivate typealias Stream = AsyncThrowingStream<(element: Element, at: ContinuousClock.Instant), any Error>

    fileprivate var values: Stream.Iterator

    /// Returns the time at which the observer had the first matching value among the unread ones.
    ///
    /// - Throws: `BenchError` when the observation ends before, or the observation's error.
    mutating func first(where fits: (Element) -> Bool) async throws -> ContinuousClock.Instant {
        while let seen = try await values.next(isolation: #isolation) { if fits(seen.element) { return seen.at } }
        throw BenchError("an observation ended before it showed what was written")
    }
}

extension LiveValues {
    /// Runs `body` beside a task that observes until it ends.
    func observed(during body: (inout Sightings<Element>) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            let (stream, continuation) = Sightings<Element>.Stream.makeStream()
            group.addTask {
                do {
                    for try await element in self { continuation.yield((element, .now)) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            defer { group.cancelAll() }
            var sightings = Sightings<Element>(values: stream.makeAsyncIterator())
            try await body(&sightings)
        }
    }
}
