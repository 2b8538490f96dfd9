import TidemarkModel
import TidemarkStore
import TidemarkWire

extension Hub {
    /// Begins to follow a workspace.
    mutating func follow(_ workspace: WorkspaceID, from head: Head) {
        guard workspaces[workspace] == nil else { return }
        workspaces[workspace] = WorkspaceState(ring: Ring(tail: head), attendance: Attendance(limits: limits))
    }

    /// Ends following a workspace without connections for long. Clients that connected just now must connect again.
    mutating func unfollow(_ workspace: WorkspaceID, into effects: inout [SessionEffect]) {
        guard let state = workspaces[workspace] else { return }
        for id in state.byClient.values.sorted() {
            update(id, into: &effects) { session, _, effects in
                session.close(.unavailable, "the idle workspace was unloaded; connect again", into: &effects)
            }
        }
        ringBytes -= state.ring.bytes
        workspaces[workspace] = nil
    }

    /// Delivers the next batch of the order, which must begin right after the tail.
    ///
    /// Only the sessions that see something of it are touched, and those that are behind.
    mutating func committed(
        _ batch: DeliveryBatch, in workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        guard let ring = workspaces[workspace]?.ring, batch.low == ring.tail.seq + 1 else { return }
        let (tail, durable) = (ring.tail, ring.durable)
        let touched = touched(by: batch, in: workspace)
        append(batch, to: workspace)
        for change in batch.memberships where change.role == nil {
            workspaces[workspace]?.attendance.expelled(change.user, from: change.scope)
        }
        var shared: SharedFrame?
        for (id, groups) in touched {
            let note = withSession(id) { session -> Session.IndexNote? in
                guard session.isLive else { return nil }
                session.deliver(
                    batch, after: tail, groups: groups, durable: durable, shared: &shared, now: now, into: &effects)
                return session.takeIndexNote()
            }
            if case let note?? = note { take(note, of: id, in: workspace) }
        }
        for client in batch.removals {
            if let id = workspaces[workspace]?.byClient[client] { removed(id, into: &effects) }
        }
        catchUp(workspace, now: now, into: &effects)
    }

    /// Handles missed batches, whose bodies were not kept: all sessions catch up from the store.
    mutating func missed(
        upTo head: Head, in workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        guard let state = workspaces[workspace], head.seq > state.ring.tail.seq else { return }
        let before = (tail: state.ring.tail, bytes: state.ring.bytes)
        ringBytes -= before.bytes
        workspaces[workspace]?.ring.reset(tail: head)
        workspaces[workspace]?.attendance.forgetDepartures(limits: limits)
        for id in Set(state.byScope.values.joined()).union(state.byUser.values.joined()).sorted() {
            let note = withSession(id) { session -> Session.IndexNote? in
                session.fallBehind(from: before.tail)
                return session.takeIndexNote()
            }
            if case let note?? = note { take(note, of: id, in: workspace) }
        }
        catchUp(workspace, now: now, into: &effects)
    }

    /// Handles an order that is not the one that was delivered. No more of it may be sent, and clients that are
    /// connected, or about to be, must connect again and show their position.
    mutating func rewound(
        to head: Head, in workspace: WorkspaceID, into effects: inout [SessionEffect]
    ) {
        guard let state = workspaces[workspace] else { return }
        ringBytes -= state.ring.bytes
        workspaces[workspace]?.ring.rewind(to: head)
        workspaces[workspace]?.attendance.forgetDepartures(limits: limits)
        for id in sessions.keys.sorted() where sessions[id]?.identity?.workspace == workspace {
            update(id, into: &effects) { session, _, effects in
                session.closeRewound(into: &effects)
            }
        }
    }

    /// Returns the affected sessions with the groups that each sees; those without a group have a settlement or a
    /// membership in the batch.
    private func touched(by batch: DeliveryBatch, in workspace: WorkspaceID) -> [(SessionID, [Int])] {
        guard let state = workspaces[workspace] else { return [] }
        var touched: [(SessionID, [Int])] = []
        var indices = [SessionID: Int](minimumCapacity: batch.groups.count)
        for (index, group) in batch.groups.enumerated() {
            for id in state.byScope[group.scope] ?? [] {
                if let known = indices[id] {
                    touched[known].1.append(index)
                } else {
                    indices[id] = touched.count
                    touched.append((id, [index]))
                }
            }
        }
        func touch(_ id: SessionID) {
            guard indices[id] == nil else { return }
            indices[id] = touched.count
            touched.append((id, []))
        }
        for settlement in batch.settlements {
            if let id = state.byClient[settlement.client.id] { touch(id) }
        }
        for change in batch.memberships {
            for id in state.byUser[change.user] ?? [] { touch(id) }
        }
        return touched
    }

    /// Serves the sessions that are not live, or hold pages until the tail moves.
    private mutating func catchUp(_ workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard let behind = workspaces[workspace]?.behind, !behind.isEmpty else { return }
        for id in behind.sorted() {
            update(id, into: &effects) { session, ring, effects in
                guard let ring = ring() else { return }
                session.pump(ring, now: now, into: &effects)
                session.releasePages(upTo: ring.tail.seq, into: &effects)
            }
        }
    }
}

/// The memory for recent batches, over all workspaces.
extension Hub {
    /// Adds a batch to its workspace's ring. If all rings together are then too large, the largest shrinks.
    mutating func append(_ batch: DeliveryBatch, to workspace: WorkspaceID) {
        change(workspace) { ring in
            // Sessions that are behind continue from the store.
            if batch.forgets { ring.reset(tail: ring.tail) }
            ring.append(batch)
        }
        while ringBytes > limits.ringBytesMax, let largest = largestRing() {
            change(largest.workspace) { $0.shrink(to: largest.bytes / 8 * 7) }
        }
    }

    /// Forgets batches that are too old for a client to come back to.
    mutating func forgetBatches(olderThan time: Milliseconds) {
        for workspace in workspaces.keys where workspaces[workspace]?.ring.isOlder(than: time) == true {
            change(workspace) { $0.forget(olderThan: time) }
        }
    }

    private func largestRing() -> (workspace: WorkspaceID, bytes: Int)? {
        // A ring keeps its last batch, whatever its size, so such a ring cannot shrink.
        workspaces.filter { $0.value.ring.count > 1 }.max { $0.value.ring.bytes < $1.value.ring.bytes }
            .map { ($0.key, $0.value.ring.bytes) }
    }

    private mutating func change(_ workspace: WorkspaceID, _ body: (inout Ring) -> Void) {
        guard let index = workspaces.index(forKey: workspace) else { return }
        let before = workspaces.values[index].ring.bytes
        body(&workspaces.values[index].ring)
        ringBytes += workspaces.values[index].ring.bytes - before
    }
}
