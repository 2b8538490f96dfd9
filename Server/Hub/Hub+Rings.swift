import TidemarkModel

/// The memory that recent batches take, over all workspaces.
extension Hub {
    /// Adds a batch to its workspace's ring. Where all rings together are then too large, the largest gives way.
    mutating func append(_ batch: DeliveryBatch, to workspace: WorkspaceID) {
        change(workspace) { ring in
            // Who is behind reads on from the store.
            if batch.forgets { ring.reset(tail: ring.tail) }
            ring.append(batch)
        }
        while ringBytes > limits.ringBytesMax, let largest = largestRing() {
            change(largest.workspace) { $0.shrink(to: largest.bytes / 8 * 7) }
        }
    }

    /// Forgets what nobody will come back to.
    mutating func forgetBatches(olderThan time: Milliseconds) {
        for workspace in workspaces.keys where workspaces[workspace]?.ring.isOlder(than: time) == true {
            change(workspace) { $0.forget(olderThan: time) }
        }
    }

    private func largestRing() -> (workspace: WorkspaceID, bytes: Int)? {
        // A ring keeps its last batch, whatever its size: nothing is left to give then.
        workspaces.filter { $0.value.ring.count > 1 }.max { $0.value.ring.bytes < $1.value.ring.bytes }
            .map { ($0.key, $0.value.ring.bytes) }
    }

    private mutating func change(_ workspace: WorkspaceID, _ body: (inout Ring) -> Void) {
        guard let place = workspaces.index(forKey: workspace) else { return }
        let before = workspaces.values[place].ring.bytes
        body(&workspaces.values[place].ring)
        ringBytes += workspaces.values[place].ring.bytes - before
    }
}
