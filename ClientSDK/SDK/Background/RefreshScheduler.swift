/// The part of a system that starts or wakes an app in the background, now and then: `BGTaskScheduler` on iOS.
public protocol RefreshScheduler: Sendable {
    /// Passes each task that the system grants under `identifier` to `launch`, on any thread. On iOS, call it once,
    /// before the app has finished launching.
    ///
    /// - Throws: an error when the system does not know the identifier; add it to the app's property list.
    func register(_ identifier: String, _ launch: @escaping @Sendable (any RefreshTask) -> Void) throws

    /// Asks for one task, no sooner than after `delay`; replaces an earlier request.
    ///
    /// - Throws: an error when the system refuses: the user has switched background refresh off, or too many requests
    ///   are waiting.
    func request(_ identifier: String, after delay: Duration) throws

    /// Cancels the request.
    func cancel(_ identifier: String)
}

/// A period of running time that the system grants.
public protocol RefreshTask: Sendable {
    /// Calls `expire`, on any thread, when the system wants its time back early.
    func onExpiration(_ expire: @escaping @Sendable () -> Void)

    /// Ends the task; the app may be suspended at once.
    func complete(success: Bool)
}
