package import TidemarkModel
package import TidemarkStore
import TidemarkWire

extension Session {
    /// Reads from the store what the ring no longer holds.
    mutating func readOn(into effects: inout [SessionEffect]) {
        guard let identity, !isLoading else { return }
        guard let catchUp else {
            // It fell behind the ring: it starts over from a new snapshot, and keeps the position.
            return requestLoad(registers: false, at: position, into: &effects)
        }
        isLoading = true
        effects.append(
            .readWindow(
                id,
                WindowRequest(
                    workspace: identity.workspace, scopes: catchUp.scopes.sorted(), after: position.seq,
                    span: min(catchUp.span, catchUp.target.seq - position.seq))))
    }

    /// Resumes a session that fell behind with a new snapshot: scopes that it still holds are caught up, the other
    /// changes are reported.
    mutating func resume(
        _ snapshot: SessionSnapshot, now: Milliseconds, ring: Ring, into effects: inout [SessionEffect]
    ) {
        guard snapshot.head.seq >= position.seq else { return pump(ring, now: now, into: &effects) }
        guard position.seq >= snapshot.horizon else { return closeCompacted(into: &effects) }
        guard position.isOfHistory(holding: snapshot.lineage) else { return closeRewound(into: &effects) }
        // The new snapshot reports it again.
        heldSettled = nil
        let current = held(snapshot.grants)
        if context.leftOut(snapshot.grants) > 0 {
            let granted = Set(snapshot.grants.map(\.scope))
            let crowdsOut = grants.keys.contains { current[$0] == nil && granted.contains($0) }
            if crowdsOut { return closeCrowded(into: &effects) }
        }
        var kept: [ScopeID] = []
        var changes: [Changes.GrantChange] = []
        for (scope, grant) in grants.sorted(by: { $0.key < $1.key }) {
            if current[scope]?.since == grant.since {
                kept.append(scope)
            } else {
                changes.append(.init(scope: scope, since: snapshot.head.seq, role: nil))
            }
        }
        for (scope, grant) in current.sorted(by: { $0.key < $1.key }) where grants[scope] != grant {
            changes.append(.init(scope: scope, since: grant.since, role: grant.role))
        }
        catchUp = CatchUp(
            target: snapshot.head, scopes: Set(kept), grants: current, changes: changes,
            settled: Settled(
                through: snapshot.client?.settledThrough ?? 0, outcomes: snapshot.results))
        pump(ring, now: now, into: &effects)
    }

    /// Handles a window that was read.
    package mutating func windowRead(
        _ read: Window, now: Milliseconds, ring: Ring, into effects: inout [SessionEffect]
    ) {
        isLoading = false
        guard phase == .streaming, var catchUp, read.through.seq > position.seq else {
            return pump(ring, now: now, into: &effects)
        }
        guard position.isOfHistory(holding: read.base) else { return closeRewound(into: &effects) }
        if read.head.seq > readThrough { looked = read.head }
        let groups = DeliveryBatch.groups(read.records.filter { catchUp.isDue($0.scope, at: $0.seq) })
        let bytes = groups.reduce(0) { $0 + $1.rows.count }
        catchUp.adapt(to: bytes, target: context.limits.changesBytesTarget)
        self.catchUp = catchUp
        position = read.through
        if !groups.isEmpty {
            let cursor = cursor(read.through)
            var splice = ChangesSplice(
                from: sent.cursor, cursor: cursor, time: read.through.time, isLive: false, isConsistent: false,
                capacity: bytes + groups.count * 64 + 320)
            for group in groups { splice.group(group.scope, rows: group.rows) }
            // A read window is sent even beyond the send window's edge: at most one frame exceeds it.
            emit(
                Frame(splice.finish()), nil, cursor: cursor, seq: read.through.seq, isConsistent: false, now: now,
                into: &effects)
        }
        pump(ring, now: now, into: &effects)
    }

    /// Handles batches after `head` that this process missed: a live session is at `head` and must catch up.
    package mutating func fallBehind(from head: Head) {
        guard isLive else { return }
        isLive = false
        position = head
    }

    /// Handles a change of the socket's room. The answer to `awaitRoom` is that it has room.
    package mutating func writabilityChanged(
        _ isWritable: Bool, now: Milliseconds, ring: Ring?, into effects: inout [SessionEffect]
    ) {
        guard isWritable else { return outbound.socketIsFull() }
        if outbound.isSocketFull { window.readAgain(now: now) }
        outbound.socketHasRoom()
        guard let ring else { return }
        if !isLive { pump(ring, now: now, into: &effects) }
        releasePages(upTo: ring.tail.seq, into: &effects)
    }
}
