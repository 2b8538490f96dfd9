/// The part of a system that starts or wakes an app in the background, now and then: `BGTaskScheduler` on iOS.
public protocol RefreshScheduler: Sendable {
    /// Hands each task that the system grants under `identifier` to `launch`, on any thread. On iOS to be called once, before
    /// the app has finished launching.
    ///
    /// - Throws: when the system does not know the identifier: it belongs into the app's property list.
    func register(_ identifier: String, _ launch: @escaping @Sendable (any RefreshTask) -> Void) throws

    /// Asks for one task, not before `delay` is over; replaces what was asked for earlier.
    ///
    /// - Throws: when the system refuses: the user switched background refresh off, or too many requests wait.
    func request(_ identifier: String, after delay: Duration) throws

    /// Takes back what was asked for.
    func cancel(_ identifier: String)
}

/// A stretch of time that the system grants.
public protocol RefreshTask: Sendable {
    /// Calls `expire`, on any thread, when the system wants its time back early.
    func onExpiration(_ expire: @escaping @Sendable () -> Void)

    /// Ends the task; the app may be suspended at once.
    func complete(success: Bool)
}
