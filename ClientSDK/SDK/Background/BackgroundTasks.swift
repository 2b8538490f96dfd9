#if canImport(BackgroundTasks) && !os(macOS)
import BackgroundTasks
import Foundation

extension RefreshScheduler where Self == SystemRefreshScheduler {
    /// The system's own scheduler. It is compiled where the system refreshes apps in the background: not on macOS.
    public static var system: SystemRefreshScheduler { SystemRefreshScheduler() }
}

/// `BGTaskScheduler` with requests for app refreshes. It is compiled where the system refreshes apps in the background:
/// not on macOS.
public struct SystemRefreshScheduler: RefreshScheduler {
    /// The identifier is not one of `BGTaskSchedulerPermittedIdentifiers` in the app's property list, or was registered
    /// before.
    public struct IdentifierRefused: Error {
        /// The refused identifier.
        public let identifier: String
    }

    /// See `RefreshScheduler`.
    ///
    /// - Throws: `IdentifierRefused`.
    public func register(_ identifier: String, _ launch: @escaping @Sendable (any RefreshTask) -> Void) throws {
        let isRegistered = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
            launch(GrantedTask(task: task))
        }
        guard isRegistered else { throw IdentifierRefused(identifier: identifier) }
    }

    /// See `RefreshScheduler`; throws what `BGTaskScheduler` does.
    public func request(_ identifier: String, after delay: Duration) throws {
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = Date(timeIntervalSinceNow: TimeInterval(delay.components.seconds))
        try BGTaskScheduler.shared.submit(request)
    }

    /// See `RefreshScheduler`.
    public func cancel(_ identifier: String) {
        BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: identifier)
    }
}

/// `@unchecked Sendable`: a `BGTask` may be used from any thread, and this one is only ended.
private struct GrantedTask: RefreshTask, @unchecked Sendable {
    let task: BGTask

    func onExpiration(_ expire: @escaping @Sendable () -> Void) { task.expirationHandler = expire }

    func complete(success: Bool) { task.setTaskCompleted(success: success) }
}
#endif
