import Foundation

/// Threads for calls that may block, such as libpq's, which must stay off Swift's cooperative pool. Foundation's
/// `Thread` does not report that the system refuses one.
enum PosixThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread; it ends when `body` returns.
    ///
    /// - Throws: `PostgresError.unavailable` if the system refuses another thread; `body` then never runs.
    static func start(_ body: @escaping @Sendable () -> Void) throws(PostgresError) {
        let retained = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let status = pthread_create(
            &thread, nil,
            { argument in
                // Optional on Linux, and not on Darwin.
                let argument: UnsafeMutableRawPointer? = argument
                guard let argument else { return nil }
                pthread_detach(pthread_self())
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard status == 0 else {
            retained.release()
            throw .unavailable("the system refused a thread (error \(status))")
        }
    }

    /// Runs `body` on a thread of its own and suspends until it has ended.
    static func run<R: Sendable>(_ body: @escaping @Sendable () -> Result<R, any Error>) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try start { continuation.resume(with: body()) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }
}
