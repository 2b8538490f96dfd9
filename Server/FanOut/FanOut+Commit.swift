package import TidemarkModel
package import TidemarkSession
package import TidemarkStore

extension FanOut {
    /// The process follows a workspace from here on.
    package mutating func follow(_ workspace: WorkspaceID, from head: Head) {
        guard tides[workspace] == nil else { return }
        tides[workspace] = Tide(ring: Ring(tail: head, bytesMax: limits.ringBytesMax))
    }

    /// The next batch of the order; it must begin right after the tail.
    ///
    /// Touches only the sessions that see something of it, and those that are behind.
    package mutating func committed(
        _ batch: DeliveryBatch, in workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        guard let tail = tides[workspace]?.ring.tail, batch.low == tail.seq + 1 else { return }
        let touched = touched(by: batch, in: workspace)
        tides[workspace]?.ring.append(batch)
        var shared: SharedFrame?
        for (id, groups) in touched where sessions[id]?.isLive == true {
            sessions[id]?.deliver(batch, groups: groups, shared: &shared, now: now, into: &effects)
            settleIndex(of: id, in: workspace)
        }
        catchUp(workspace, now: now, into: &effects)
    }

    /// Batches were missed, because their bodies were not kept: everyone catches up from the store.
    package mutating func missed(
        upTo head: Head, in workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        guard let tide = tides[workspace], head.seq > tide.ring.tail.seq else { return }
        let before = tide.ring.tail
        tides[workspace]?.ring.reset(tail: head)
        for id in Set(tide.byScope.values.joined()).union(tide.byUser.values.joined()).sorted() {
            sessions[id]?.fallBehind(from: before)
            tides[workspace]?.behind.insert(id)
        }
        catchUp(workspace, now: now, into: &effects)
    }

    /// Sessions with the groups that each sees; those without a group have a settlement or a membership in the batch.
    private func touched(by batch: DeliveryBatch, in workspace: WorkspaceID) -> [(SessionID, [Int])] {
        var order: [SessionID] = []
        var groups: [SessionID: [Int]] = [:]
        for (index, group) in batch.groups.enumerated() {
            guard let interested = tides[workspace]?.byScope[group.scope] else { continue }
            if batch.groups.count == 1 { return single(interested, batch, workspace) }
            for id in interested {
                if groups[id] == nil { order.append(id) }
                groups[id, default: []].append(index)
            }
        }
        for id in others(batch, workspace) where groups[id] == nil {
            order.append(id)
            groups[id] = []
        }
        return order.map { ($0, groups[$0] ?? []) }
    }

    /// The common case of one scope: no dictionary a session.
    private func single(
        _ interested: Set<SessionID>, _ batch: DeliveryBatch, _ workspace: WorkspaceID
    ) -> [(SessionID, [Int])] {
        interested.map { ($0, [0]) } + others(batch, workspace).filter { !interested.contains($0) }.map { ($0, []) }
    }

    /// Each session once, though it may have both a settlement and a membership in the batch.
    private func others(_ batch: DeliveryBatch, _ workspace: WorkspaceID) -> [SessionID] {
        var ids: [SessionID] = []
        for settlement in batch.settlements {
            if let id = tides[workspace]?.byClient[settlement.client.id] { ids.append(id) }
        }
        guard !batch.memberships.isEmpty else { return ids }
        var seen = Set(ids)
        for change in batch.memberships {
            for id in tides[workspace]?.byUser[change.user] ?? [] where seen.insert(id).inserted { ids.append(id) }
        }
        return ids
    }

    /// Serves whoever is not live, or waits for the tail with a page.
    private mutating func catchUp(_ workspace: WorkspaceID, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard let behind = tides[workspace]?.behind, !behind.isEmpty else { return }
        for id in behind.sorted() {
            update(id, into: &effects) { session, ring, effects in
                guard let ring else { return }
                session.pump(ring, now: now, into: &effects)
                session.releasePages(upTo: ring.tail.seq, into: &effects)
            }
        }
    }
}
