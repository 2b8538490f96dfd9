package import TidemarkModel
package import TidemarkStore
import TidemarkWire

extension Session {
    /// Delivers a committed batch to a live session, which is at the batch's beginning.
    ///
    /// - Parameters:
    ///   - tail: the end of the batch before it.
    ///   - groups: the indices of the batch's groups that this session sees.
    ///   - durable: the number up to which the order is called safe.
    ///   - shared: the frame that the previous session got for the same batch; it is reused if it would be the same.
    package mutating func deliver(
        _ batch: DeliveryBatch, after tail: Head, groups: [Int], durable: SequenceNumber, shared: inout SharedFrame?,
        now: Milliseconds, into effects: inout [SessionEffect]
    ) {
        let settled = batch.settled(of: client)
        let changes = membershipChanges(in: batch)
        let isPlain = settled == nil && changes.isEmpty
        // A client that writes keeps what is not safe yet.
        let told = settled != nil && durable > toldDurable ? durable : nil
        let frame: Frame
        if isPlain, let shared, shared.base == sent.cursor, shared.groups == groups {
            frame = shared.frame
        } else {
            let visible = changes.isEmpty ? groups : visibleGroups(of: batch, after: changes)
            frame = compose(batch, visible, isLive: true, isConsistent: true, settled, changes, durable: told)
            if isPlain { shared = SharedFrame(base: sent.cursor, groups: groups, frame: frame) }
        }
        guard !outbound.isFull(context.limits), window.hasRoom(for: frame.bytes.count, limits: context.limits) else {
            // the queue is what the client has not acknowledged; it gets the missed batches from the ring or the
            // store.
            isLive = false
            position = tail
            return
        }
        if let told { toldDurable = told }
        apply(changes)
        position = batch.head
        emit(frame, settled, cursor: batch.cursor, seq: batch.head.seq, isConsistent: true, now: now, into: &effects)
    }

    /// Serves a session that is not live: from the ring while it reaches back far enough, otherwise from the store.
    ///
    /// The database may have gone back before this process knows it, or only the read for this session may know it. So
    /// each step continues from a position in the same history as the step.
    package mutating func pump(_ ring: Ring, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard phase == .streaming, !isLive, !isLoading else { return }
        guard window.isHalfFree(limits: context.limits) else { return }
        while phase == .streaming, !outbound.isFull(context.limits) {
            if ring.isOfHistory(position) == false { return closeRewound(into: &effects) }
            if let catchUp, position.seq >= catchUp.target.seq || catchUp.scopes.isEmpty {
                guard arrive(catchUp, ring, now: now, into: &effects) else { return }
                continue
            }
            if catchUp == nil, position.seq >= ring.tail.seq {
                // At this process's tail, or ahead of it.
                if position.seq == ring.tail.seq { goLive(ring, now: now, into: &effects) }
                return
            }
            guard let batch = ring.batch(after: position.seq), catchUp.map({ batch.head.seq <= $0.target.seq }) ?? true
            else {
                return readOn(into: &effects)
            }
            guard replay(batch, ring, now: now, into: &effects) else { return }
        }
    }

    /// Sends one batch from the ring; false when the window is full.
    private mutating func replay(
        _ batch: DeliveryBatch, _ ring: Ring, now: Milliseconds, into effects: inout [SessionEffect]
    ) -> Bool {
        var groups: [Int] = []
        var settled: Settled?
        var changes: [Changes.GrantChange] = []
        if let catchUp {
            groups = batch.groups.indices.filter { index in
                let scope = batch.groups[index].scope
                return catchUp.scopes.contains(scope) && catchUp.isDue(scope, at: batch.head.seq)
            }
        } else {
            changes = membershipChanges(in: batch)
            settled = batch.settled(of: client)
            groups = visibleGroups(of: batch, after: changes)
        }
        if groups.isEmpty, settled == nil, changes.isEmpty {
            position = batch.head
            return true
        }
        let isConsistent = catchUp == nil && batch.head.seq == ring.tail.seq && batch.head.seq >= readThrough
        let held = heldSettled?.followed(by: settled)
        if held != nil { settled = isConsistent ? held : nil }
        let durable = settled != nil && ring.durable > toldDurable ? ring.durable : nil
        let frame = compose(
            batch, groups, isLive: catchUp == nil, isConsistent: isConsistent, settled, changes, durable: durable)
        guard window.hasRoom(for: frame.bytes.count, limits: context.limits) else { return false }
        if let durable { toldDurable = durable }
        apply(changes)
        position = batch.head
        heldSettled = isConsistent ? nil : held
        emit(
            frame, settled, cursor: batch.cursor, seq: batch.head.seq, isConsistent: isConsistent, now: now,
            into: &effects)
        return true
    }

    /// Handles reaching the catch-up's target: reports the settled transactions and the grants of the snapshot. Returns
    /// false when the window is full.
    ///
    /// A record that was written again after the target is not among the rows up to it, and comes later under its new
    /// number. Its writer must not learn of the settlement before, or it would lose sight of its own write.
    private mutating func arrive(
        _ arrived: CatchUp, _ ring: Ring, now: Milliseconds, into effects: inout [SessionEffect]
    ) -> Bool {
        if position.seq == arrived.target.seq, position.nonce != arrived.target.nonce {
            closeRewound(into: &effects)
            return false
        }
        let isConsistent = arrived.target.seq == ring.tail.seq && arrived.target.seq >= readThrough
        // Without the state that was read: the target may be of a lost order, and the last read of the one after it.
        let cursor = context.seal.cursor(arrived.target, workspace: identity?.workspace.text ?? "")
        var splice = ChangesSplice(
            from: sent.cursor, cursor: cursor, time: arrived.target.time, isLive: false, isConsistent: isConsistent)
        let settled = isConsistent ? arrived.settled : nil
        let frame = Frame(splice.finish(settled: settled, grants: arrived.changes))
        guard window.hasRoom(for: frame.bytes.count, limits: context.limits) else { return false }
        position = arrived.target
        adopt(arrived.grants)
        catchUp = nil
        heldSettled = isConsistent ? nil : arrived.settled
        emit(
            frame, settled, cursor: cursor, seq: arrived.target.seq, isConsistent: isConsistent, now: now,
            into: &effects)
        return true
    }

    /// Returns the cursor for a client at the end of a read; it includes the read state while that is further.
    func cursor(_ head: Head) -> String {
        context.seal.cursor(head, looked: looked, workspace: identity?.workspace.text ?? "")
    }

    private mutating func goLive(_ ring: Ring, now: Milliseconds, into effects: inout [SessionEffect]) {
        guard position.seq >= readThrough else { return }
        if owesConsistency {
            sendProgress(to: ring.tail, now: now, into: &effects)
            guard !owesConsistency else { return }
        }
        isLive = true
        releasePages(into: &effects)
    }

    /// Sends an empty frame: nothing visible happened up to `head`. Nothing is sent while the window or the socket is
    /// full.
    mutating func sendProgress(to head: Head, now: Milliseconds, into effects: inout [SessionEffect]) {
        let cursor = cursor(head)
        var splice = ChangesSplice(
            from: sent.cursor, cursor: cursor, time: head.time, isLive: isLive, isConsistent: true)
        let frame = Frame(splice.finish(settled: heldSettled))
        guard !outbound.isFull(context.limits), window.hasRoom(for: frame.bytes.count, limits: context.limits)
        else { return }
        position = head
        emit(frame, heldSettled, cursor: cursor, seq: head.seq, isConsistent: true, now: now, into: &effects)
        heldSettled = nil
    }

    private func compose(
        _ batch: DeliveryBatch, _ groups: [Int], isLive: Bool, isConsistent: Bool, _ settled: Settled?,
        _ changes: [Changes.GrantChange], durable: SequenceNumber? = nil
    ) -> Frame {
        var capacity = 320
        for index in groups { capacity += batch.groups[index].rows.count + 64 }
        var splice = ChangesSplice(
            from: sent.cursor, cursor: batch.cursor, time: batch.head.time, isLive: isLive,
            isConsistent: isConsistent, capacity: capacity)
        for index in groups { splice.group(batch.groups[index].scope, rows: batch.groups[index].rows) }
        return Frame(splice.finish(settled: settled, grants: changes, durable: durable))
    }

    /// Sends a frame of the stream.
    ///
    /// - Parameter settled: the settlements of the client's own transactions in the frame. Their pushes are no longer
    ///   counted: the client may send the next one as soon as it reads this frame. That may be before the sequencer's
    ///   outcome arrives here.
    mutating func emit(
        _ frame: Frame, _ settled: Settled?, cursor: String, seq: SequenceNumber, isConsistent: Bool, now: Milliseconds,
        into effects: inout [SessionEffect]
    ) {
        if let settled { pushesInFlight.removeAll { $0 <= settled.through } }
        sent = (cursor, seq, now)
        owesConsistency = !isConsistent
        window.sent(frame.bytes.count, through: seq, now: now)
        give(frame, into: &effects)
    }

    /// Returns the batch's membership changes of this user in their wire form.
    private func membershipChanges(in batch: DeliveryBatch) -> [Changes.GrantChange] {
        guard !batch.memberships.isEmpty, let user = identity?.principal.user else { return [] }
        var begun: [ScopeID: SequenceNumber] = [:]
        return batch.memberships.filter { $0.user == user }.map { change in
            // A role may change in the batch that granted it: the grant's number is then not among the session's own
            // yet.
            let since = change.since ?? begun[change.scope] ?? grants[change.scope]?.since ?? change.seq
            begun[change.scope] = change.role == nil ? nil : since
            return .init(scope: change.scope, since: change.role == nil ? change.seq : since, role: change.role)
        }
    }

    /// Returns the groups that the client sees once the batch's own membership changes have taken effect. They
    /// include those of a scope gained in this batch: its creator must not lose sight of it until the first page.
    private func visibleGroups(of batch: DeliveryBatch, after changes: [Changes.GrantChange]) -> [Int] {
        var isHeld: [ScopeID: Bool] = [:]
        for change in changes { isHeld[change.scope] = change.role != nil }
        return batch.groups.indices.filter { index in
            let scope = batch.groups[index].scope
            return isHeld[scope] ?? (grants[scope] != nil)
        }
    }

    private mutating func apply(_ changes: [Changes.GrantChange]) {
        for change in changes {
            if let role = change.role {
                if grants[change.scope] == nil { indexChanges.append((change.scope, true)) }
                grants[change.scope] = Grant(scope: change.scope, since: change.since, role: role)
            } else if grants.removeValue(forKey: change.scope) != nil {
                indexChanges.append((change.scope, false))
            }
        }
    }
}

/// A frame that several sessions may share: those whose last frame ended with the same cursor and that see the same groups.
package struct SharedFrame {
    let base: String
    let groups: [Int]
    let frame: Frame
}
