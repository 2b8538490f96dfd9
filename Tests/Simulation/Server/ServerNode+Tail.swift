import TidemarkHub
import TidemarkModel
import TidemarkStore

extension ServerNode {
    private static let tailLimit = 8

    /// Registers for the workspace's batches; the first answer starts delivery, later ones renew.
    func follow() {
        let lease = lease
        let now = clock
        world.database.call(lease, { $0.follow(World.workspace, node: UInt64(self.number), now: now) }) { head in
            if let head, self.tail == nil {
                self.tail = Tail(head: head)
                self.advance(.follow(World.workspace, head))
                let waiting = self.whenFollowed
                self.whenFollowed = []
                for each in waiting { each() }
                self.poll()
            }
            // A failed first attempt is repeated soon.
            let wait = self.tail == nil ? 200 : self.world.plan.store.followLifetime / 3
            self.world.after(wait) { if lease.isHeld { self.follow() } }
        }
    }

    private func poll() {
        let lease = lease
        world.after(random.within(1_000...2_000)) {
            guard lease.isHeld else { return }
            self.readTail()
            self.poll()
        }
    }

    /// A hint says that another node committed something; it may be late, lost, or come twice.
    func hinted() {
        if isUp { readTail() }
    }

    func readTail() {
        guard let tail, world.now >= deafUntil else { return }
        guard !isReadingTail else { return mustReadAgain = true }
        isReadingTail = true
        mustReadAgain = false
        let mark = tail.mark
        let after = mark.head.seq
        world.database.call(lease, { $0.tail(after: after, limit: Self.tailLimit, in: World.workspace) }) { found in
            guard let found else { return self.isReadingTail = false }
            let isWhole = found.batches.count < Self.tailLimit
            switch self.tail?.read(found, from: mark, isWhole: isWhole, isCommitting: self.isCommitting) {
            case .outputs(let outputs):
                self.isReadingTail = false
                self.deliver(outputs)
            case .rewound: return self.restart(after: mark.lost(for: found))
            case nil: self.isReadingTail = false
            }
            guard self.isUp else { return }
            if !isWhole || self.mustReadAgain || self.tail?.hasGap == true { self.readTail() }
        }
    }

    /// The database went back: follows its order again from the present head.
    private func restart(after lost: Head) {
        // The node's position may have gone behind the horizon during the read: then it begins again, without a new
        // epoch.
        if world.rewinds.count == 0, lost.seq >= world.compactions.horizon {
            world.broke(.stability, "n\(number) accepts an order that has replaced a lost one")
        }
        raise(.lost(lost), .head) { isDone in
            if isDone { self.beginAgain() } else { self.isReadingTail = false }
        }
    }

    /// Begins an epoch if the condition holds; false when the database does not answer.
    func raise(_ condition: EpochRaise.Condition, _ reason: EpochReason, done: @escaping (Bool) -> Void) {
        let raise = EpochRaise(condition, reason: reason, nonce: random.next(), now: clock)
        world.database.raiseEpoch(raise, lease) { outcome in
            if case .raised = outcome { for other in self.world.nodes where other !== self { self.hint(other) } }
            done(outcome != nil)
        }
    }

    private func beginAgain() {
        let now = clock
        world.database.call(lease, { $0.follow(World.workspace, node: UInt64(self.number), now: now) }) { head in
            self.isReadingTail = false
            guard let head else { return }
            self.world.log("n\(self.number) begins again at \(head.seq)")
            self.isAstray = false
            self.missedThrough = 0
            self.tail?.restart(at: head)
            self.advance(.rewound(World.workspace, head))
            if self.isUp { self.readTail() }
        }
    }

    func databaseWentBack() {
        for connection in connections.values { connection.watch.isVoid = true }
        guard isUp, let tail, tail.mark.end > world.oracle.head.seq else { return }
        isAstray = true
    }

    /// Delivers a batch that this node committed.
    func delivered(_ batch: CommittedBatch) {
        if batch.head.seq <= missedThrough, !isAstray {
            world.broke(.ownBatches, "n\(number) delivers \(batch.head.seq) and has missed \(missedThrough)")
        }
        deliver(tail?.committed(batch) ?? [])
        guard isUp else { return }
        if tail?.hasGap == true { readTail() }
        for other in world.nodes where other.number != number { hint(other) }
    }

    /// Notes batches on their way here that the database has lost; no node has noticed yet.
    private func noteLost(_ output: Tail.Output) {
        let head: Head
        switch output {
        case .batch(let batch): head = batch.head
        case .missed(let end): head = end
        }
        guard world.rewinds.count > 0, !world.oracle.batches.contains(where: { $0.head == head }) else { return }
        isAstray = true
        for connection in connections.values { connection.watch.isVoid = true }
    }

    private func deliver(_ outputs: [Tail.Output]) {
        for output in outputs {
            if perhapsCrash() { return }
            noteLost(output)
            switch output {
            case .batch(let batch):
                let ready = DeliveryBatch(
                    batch, cursor: context.seal.cursor(batch.head, workspace: World.workspace.text))
                advance(.committed(World.workspace, ready))
            case .missed(let head):
                world.log("n\(number) missed up to \(head.seq)")
                missedThrough = head.seq
                advance(.missed(World.workspace, head))
            }
            guard isUp else { return }
        }
    }

    func hint(_ other: ServerNode) {
        let faults = world.plan.faults
        if world.isChaotic, random.chance(faults.hintLost) { return }
        let copies = world.isChaotic && random.chance(faults.hintTwice) ? 2 : 1
        for _ in 0..<copies { world.after(random.within(5...120)) { other.hinted() } }
    }
}
