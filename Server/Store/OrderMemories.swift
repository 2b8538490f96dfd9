import Synchronization
package import TidemarkModel

/// One memory for each workspace. Any thread; a step takes a memory out for as long as it works with it, so that two
/// steps of one workspace never share one, and a step that fails leaves none behind.
package final class OrderMemories: Sendable {
    private let memories = Mutex<[WorkspaceID: OrderMemory]>([:])

    package init() {}

    /// The workspace's memory, which is empty until it is given back.
    package func take(_ workspace: WorkspaceID) -> OrderMemory {
        memories.withLock { $0.removeValue(forKey: workspace) } ?? OrderMemory()
    }

    /// Gives a memory back after a step that went well.
    package func put(_ memory: OrderMemory, _ workspace: WorkspaceID) {
        memories.withLock { memories in
            if memories.count >= Self.workspacesMax { memories.removeAll(keepingCapacity: true) }
            memories[workspace] = memory
        }
    }

    /// Beyond it all workspaces are forgotten: the next batch of each asks again.
    private static let workspacesMax = 1_024
}
