#if os(iOS) && canImport(BackgroundTasks)
public import BackgroundTasks

extension SyncStore {
    /// Runs one round for a task of the system's scheduler and tells the system how it went. Compiled on iOS only.
    ///
    ///     BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.sync", using: nil) { task in
    ///         Task { await store.run(task) }
    ///     }
    ///
    /// - Parameter deadline: below the half minute that the system grants an app refresh.
    public func run(_ task: BGTask, deadline: Duration = .seconds(25)) async {
        let status = await runOnce(deadline: deadline)
        task.setTaskCompleted(success: status.activity == .completed)
    }
}
#endif
