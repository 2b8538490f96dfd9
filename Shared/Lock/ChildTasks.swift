/// The child tasks of a body that starts new ones while it runs. It replaces the standard library's
/// `DiscardingTaskGroup`, which requires iOS 17 and macOS 14: a child that has ended leaves nothing behind.
///
/// ```swift
/// await withChildTasks { children in
///     for await request in requests { await children.add { await answer(request) } }
///     children.cancelAll()
/// }
/// ```
///
/// A task group keeps the result of each child until it is asked for. Here each child counts its own end, and adding
/// the next child removes as many results as were counted. The group therefore holds the children that run and those
/// that have ended since the last one was added.
package struct ChildTasks {
    private var group: TaskGroup<Void>
    private let ended = Lock(0)
    /// The children that run, and those that have ended since the last one was added.
    package private(set) var held = 0

    fileprivate init(_ group: TaskGroup<Void>) { self.group = group }

    /// Starts a child. Never waits for one that is still running.
    package mutating func add(_ work: @escaping @Sendable () async -> Void) async {
        await takeOutEnded()
        group.addTask { [ended] in
            await work()
            ended.add(1)
        }
    }

    /// Starts a child on an executor; `nil` means the system's threads.
    @available(iOS 18, macOS 15, *)
    package mutating func add(
        on executor: (any TaskExecutor)?, _ work: @escaping @Sendable () async -> Void
    ) async {
        await takeOutEnded()
        group.addTask(executorPreference: executor) { [ended] in
            await work()
            ended.add(1)
        }
    }

    private mutating func takeOutEnded() async {
        // A child that has counted its end has nothing else to do: `next()` waits for its last step at most.
        let count = ended.exchange(0)
        for _ in 0..<count { await group.next() }
        held += 1 - count
    }

    /// Cancels the children, and those that are added later.
    package func cancelAll() { group.cancelAll() }
}

/// Runs `body`, and returns when it and all of its child tasks have ended.
package func withChildTasks(_ body: (inout ChildTasks) async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        var children = ChildTasks(group)
        await body(&children)
    }
}
