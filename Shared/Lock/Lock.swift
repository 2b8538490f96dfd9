/// A value that one thread at a time may use.
///
/// ```swift
/// let names = Lock<Set<String>>([])
/// let isNew = names.withLock { $0.insert("ann").inserted }
/// ```
///
/// The lock is the system's own (`os_unfair_lock`, `pthread_mutex_t`), so it exists on every version that the package
/// supports; the standard library's `Mutex` requires iOS 18 and macOS 15. A thread that locks again inside `withLock`
/// is stopped by the system or waits forever, so `body` must not call anything that may use the same lock.
package final class Lock<Value>: @unchecked Sendable {
    // Each value crosses in by `sending`, and is reached by one thread at a time from then on.
    @usableFromInline
    let system = SystemLock()
    @usableFromInline
    @exclusivity(unchecked)
    var value: Value

    package init(_ value: consuming sending Value) { self.value = value }

    deinit { system.destroy() }

    /// Runs `body` while no other thread uses the value.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        system.lock()
        defer { system.unlock() }
        return try body(&value)
    }
}
