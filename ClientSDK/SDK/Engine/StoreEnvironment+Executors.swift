/// The threads of an engine. From iOS 18 and macOS 15 on a task can have an executor: the engine has its own queue, on
/// which it may block for the database. Older systems run the engine on their own threads, which must not block. There
/// the database's work runs on a separate queue, at two thread changes more a message.
extension StoreEnvironment {
    /// The executor of the engine, its database work and a connection's other tasks. `nil` for a queue of the engine's
    /// own, and the system's threads for the rest.
    @available(iOS 18, macOS 15, *)
    package var executor: (any TaskExecutor)? {
        get { givenExecutor as? any TaskExecutor }
        set { givenExecutor = newValue }
    }

    /// True when the engine runs where it may block for the database.
    var isEngineInline: Bool {
        guard prefersExecutors, #available(iOS 18, macOS 15, *) else { return false }
        return true
    }

    /// True when all of a connection's tasks run where they may block.
    var isAllInline: Bool { isEngineInline && givenExecutor != nil }

    /// Begins a task that nothing waits for, on the executor if there is one.
    func begin(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard prefersExecutors, #available(iOS 18, macOS 15, *) else { return Task { await work() } }
        return Task(executorPreference: executor) { await work() }
    }

    /// Runs `work` and its child tasks on the executor if there is one.
    func run(_ work: @Sendable () async -> Void) async {
        guard prefersExecutors, #available(iOS 18, macOS 15, *) else { return await work() }
        await withTaskExecutorPreference(executor, operation: work)
    }

    /// Runs the engine on the executor, or on a queue of its own.
    func runEngine(_ engine: SyncEngine) async {
        guard prefersExecutors, #available(iOS 18, macOS 15, *) else { return await engine.run() }
        await withTaskExecutorPreference(executor ?? QueueExecutor(label: "tidemark.engine")) { await engine.run() }
    }
}
