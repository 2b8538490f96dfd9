/// The threads of an engine. Systems from iOS 18 and macOS 15 on take an executor for a task: the engine has a queue of its own, on
/// which it may block for the database. Older ones run it on their own threads, which must not block, so that the database's work is
/// on a queue beside it: two changes of threads more a message.
extension StoreEnvironment {
    /// Runs the engine, its database work included, and what else a connection needs; `nil` for a queue of the engine's own,
    /// and the system's threads for the rest.
    @available(iOS 18, macOS 15, *)
    package var executor: (any TaskExecutor)? {
        get { givenExecutor as? any TaskExecutor }
        set { givenExecutor = newValue }
    }

    /// The engine runs where it may block for the database.
    var isEngineInline: Bool {
        guard prefersExecutors, #available(iOS 18, macOS 15, *) else { return false }
        return true
    }

    /// All of a connection's tasks run where they may block.
    var isAllInline: Bool { isEngineInline && givenExecutor != nil }

    /// Begins a task that nobody waits for, on the executor if there is one.
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
